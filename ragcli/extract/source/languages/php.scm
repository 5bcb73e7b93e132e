; Types, functions, methods with a body, functions that an assignment names.
(class_declaration name: (_) @name) @class
(interface_declaration name: (_) @name) @interface
(trait_declaration name: (_) @name) @trait
(enum_declaration name: (_) @name) @enum
(method_declaration name: (_) @name body: (_)) @method
(function_definition name: (_) @name) @function
(expression_statement (assignment_expression left: (variable_name (name) @name) right: (anonymous_function body: (_) @body))) @function
(namespace_definition name: (_) @name body: (_)) @scope
(comment) @attach
(ERROR) @error
