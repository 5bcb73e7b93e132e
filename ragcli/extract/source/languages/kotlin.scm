; Classes, objects, functions; an extension function hangs on its receiver's type.
(class_declaration "interface" name: (_) @name) @interface
(class_declaration (modifiers (class_modifier "enum")) name: (_) @name) @enum
(class_declaration name: (_) @name) @class
(object_declaration name: (_) @name) @object
(function_declaration [(user_type) (nullable_type) (parenthesized_type)] @in . "." . name: (_) @name (function_body) @body) @function
(function_declaration name: (_) @name (function_body) @body) @function
(secondary_constructor "constructor" @name) @constructor
(type_alias type: (_) @name) @type
(block_comment) @attach
(line_comment) @attach
(ERROR) @error
