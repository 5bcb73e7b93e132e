; Functions with a body, types with a body, macros that take arguments.
(function_definition declarator: (_) @declarator body: (_)) @function
(type_definition type: (struct_specifier body: (_) @body) declarator: (type_identifier) @name) @struct
(type_definition type: (union_specifier body: (_) @body) declarator: (type_identifier) @name) @union
(type_definition type: (enum_specifier body: (_) @body) declarator: (type_identifier) @name) @enum
(struct_specifier name: (_) @name body: (_)) @struct
(union_specifier name: (_) @name body: (_)) @union
(enum_specifier name: (_) @name body: (_)) @enum
(preproc_function_def name: (_) @name value: (_) @body) @macro
; A macro that makes a definition reads as a call before a block.
(translation_unit (expression_statement (call_expression) @declarator) @head . (compound_statement) @body @function)
(preproc_ifdef (expression_statement (call_expression) @declarator) @head . (compound_statement) @body @function)
(preproc_if (expression_statement (call_expression) @declarator) @head . (compound_statement) @body @function)
(declaration_list (expression_statement (call_expression) @declarator) @head . (compound_statement) @body @function)
(ERROR (call_expression) @declarator @head . (compound_statement) @body @function)
(comment) @attach
(ERROR) @error
