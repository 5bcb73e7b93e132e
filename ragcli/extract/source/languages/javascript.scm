; Functions, classes, methods, and functions that an assignment names. A wrapper is part of the definition.
(export_statement declaration: (function_declaration name: (_) @name body: (_) @body)) @function
(export_statement declaration: (generator_function_declaration name: (_) @name body: (_) @body)) @function
(export_statement declaration: (class_declaration name: (_) @name body: (_) @body)) @class
(export_statement declaration: (lexical_declaration . (variable_declarator name: (identifier) @name value: (arrow_function body: (_) @body)) .)) @function
(export_statement declaration: (lexical_declaration . (variable_declarator name: (identifier) @name value: (function_expression body: (_) @body)) .)) @function
(export_statement declaration: (lexical_declaration . (variable_declarator name: (identifier) @name value: (class body: (_) @body)) .)) @class
(function_declaration name: (_) @name) @function
(generator_function_declaration name: (_) @name) @function
(class_declaration name: (_) @name) @class
(lexical_declaration . (variable_declarator name: (identifier) @name value: (arrow_function body: (_) @body)) .) @function
(lexical_declaration . (variable_declarator name: (identifier) @name value: (function_expression body: (_) @body)) .) @function
(lexical_declaration . (variable_declarator name: (identifier) @name value: (class body: (_) @body)) .) @class
(variable_declaration . (variable_declarator name: (identifier) @name value: (arrow_function body: (_) @body)) .) @function
(variable_declaration . (variable_declarator name: (identifier) @name value: (function_expression body: (_) @body)) .) @function
(variable_declarator name: (identifier) @name value: (arrow_function body: (_) @body)) @function
(variable_declarator name: (identifier) @name value: (function_expression body: (_) @body)) @function
(expression_statement (assignment_expression left: (member_expression object: (_) @in property: (_) @name) right: (function_expression body: (_) @body))) @function
(expression_statement (assignment_expression left: (member_expression object: (_) @in property: (_) @name) right: (arrow_function body: (_) @body))) @function
(expression_statement (assignment_expression left: (member_expression object: (_) @in property: (_) @name) right: (class body: (_) @body))) @class
(export_statement "default" @name value: (arrow_function body: (_) @body)) @function
(export_statement "default" @name value: (function_expression body: (_) @body)) @function
(export_statement "default" @name value: (class body: (_) @body)) @class
(method_definition name: (_) @name) @function
(field_definition property: (_) @name value: (arrow_function body: (_) @body)) @function
(field_definition property: (_) @name value: (function_expression body: (_) @body)) @function
(pair key: (_) @name value: (function_expression body: (_) @body)) @function
(pair key: (_) @name value: (arrow_function body: (statement_block) @body)) @function
(lexical_declaration . (variable_declarator name: (identifier) @name value: (object (method_definition)) @body) .) @object
(lexical_declaration . (variable_declarator name: (identifier) @name value: (object (pair value: (function_expression))) @body) .) @object
(comment) @attach
(ERROR) @error
