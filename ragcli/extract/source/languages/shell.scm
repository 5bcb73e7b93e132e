; Functions in either notation.
(function_definition name: (_) @label) @function
(comment) @attach
(ERROR) @error
