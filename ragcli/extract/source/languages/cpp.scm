; Functions with a body, classes, templates around them; namespaces qualify names.
(function_definition type: (class_specifier) declarator: (identifier) @name body: (compound_statement)) @class
(function_definition type: (struct_specifier) declarator: (identifier) @name body: (compound_statement)) @struct
(template_declaration (function_definition declarator: (_) @declarator body: (_)) @function) @outer
(template_declaration (class_specifier name: (_) @path body: (_)) @class) @outer
(template_declaration (struct_specifier name: (_) @path body: (_)) @struct) @outer
(function_definition declarator: (_) @declarator body: (_)) @function
(type_definition type: (struct_specifier body: (_) @body) declarator: (type_identifier) @name) @struct
(type_definition type: (union_specifier body: (_) @body) declarator: (type_identifier) @name) @union
(type_definition type: (enum_specifier body: (_) @body) declarator: (type_identifier) @name) @enum
(class_specifier name: (_) @path body: (_)) @class
(struct_specifier name: (_) @path body: (_)) @struct
(union_specifier name: (_) @path body: (_)) @union
(enum_specifier name: (_) @path body: (_)) @enum
(concept_definition name: (_) @name) @type
(declaration declarator: (init_declarator declarator: (identifier) @name value: (lambda_expression body: (_) @body))) @function
(preproc_function_def name: (_) @name value: (_) @body) @macro
(namespace_definition name: (_) @name) @scope
; A macro that makes a definition reads as a call before a block.
(translation_unit (expression_statement (call_expression) @declarator) @head . (compound_statement) @body @function)
(preproc_ifdef (expression_statement (call_expression) @declarator) @head . (compound_statement) @body @function)
(preproc_if (expression_statement (call_expression) @declarator) @head . (compound_statement) @body @function)
(declaration_list (expression_statement (call_expression) @declarator) @head . (compound_statement) @body @function)
(ERROR (call_expression) @declarator @head . (compound_statement) @body @function)
(comment) @attach
(ERROR) @error
