; Modules, protocols, functions and macros by their clauses; @doc and @spec belong to what they stand above.
(call target: (identifier) @_word (arguments . (alias) @path) (do_block) @body (#eq? @_word "defmodule")) @module
(call target: (identifier) @_word (arguments . (alias) @path) (do_block) @body (#eq? @_word "defprotocol")) @protocol
(call target: (identifier) @_word (arguments . (alias) @path) (do_block) @body (#eq? @_word "defimpl")) @impl
(call target: (identifier) @_word (arguments . [(identifier) @label (call target: (_) @label) (binary_operator left: (call target: (_) @label)) (binary_operator left: (identifier) @label)]) (do_block) @body (#any-of? @_word "def" "defp")) @function.part
(call target: (identifier) @_word (arguments . [(identifier) @label (call target: (_) @label) (binary_operator left: (call target: (_) @label)) (binary_operator left: (identifier) @label)] (keywords) @body) (#any-of? @_word "def" "defp")) @function.part
(call target: (identifier) @_word (arguments . [(identifier) @label (call target: (_) @label) (binary_operator left: (call target: (_) @label)) (binary_operator left: (identifier) @label)]) (do_block) @body (#any-of? @_word "defmacro" "defmacrop")) @macro.part
(call target: (identifier) @_word (arguments . (call target: (_) @label) .) (#any-of? @_word "def" "defp")) @function.part
(call target: (identifier) @_word (arguments . (string (quoted_content) @label)) (do_block) @body (#eq? @_word "test")) @test
(unary_operator "@" operand: (call target: (identifier) @_word) (#any-of? @_word "doc" "spec" "impl" "deprecated" "typedoc" "tag")) @attach
(comment) @attach
(ERROR) @error
