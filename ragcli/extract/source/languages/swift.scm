; Types, extensions, functions with a body.
(class_declaration "class" name: (_) @path) @class
(class_declaration "struct" name: (_) @path) @struct
(class_declaration "enum" name: (_) @path) @enum
(class_declaration "actor" name: (_) @path) @actor
(class_declaration "extension" name: (_) @path) @extension
(protocol_declaration name: (_) @name) @protocol
(function_declaration name: (_) @label body: (_)) @function
(init_declaration "init" @name body: (_)) @constructor
(deinit_declaration "deinit" @name) @destructor
(subscript_declaration "subscript" @name) @method
(typealias_declaration name: (_) @name) @type
(comment) @attach
(multiline_comment) @attach
(ERROR) @error
