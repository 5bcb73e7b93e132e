; Functions and classes, with their decorators.
(decorated_definition definition: (function_definition name: (identifier) @name) @function) @outer
(decorated_definition definition: (class_definition name: (identifier) @name) @class) @outer
(function_definition name: (identifier) @name) @function
(class_definition name: (identifier) @name) @class
(comment) @attach
(ERROR) @error
