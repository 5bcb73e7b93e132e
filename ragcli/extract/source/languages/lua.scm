; Functions, and functions that an assignment or a table field names.
(function_declaration name: (_) @path) @function
(variable_declaration (assignment_statement (variable_list . name: (identifier) @name .) (expression_list . value: (function_definition) .))) @function
(assignment_statement (variable_list . name: (_) @path .) (expression_list . value: (function_definition) .)) @function
(field name: (identifier) @name value: (function_definition)) @function
(comment) @attach
(ERROR) @error
