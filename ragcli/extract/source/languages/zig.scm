; Functions, tests, and the types that a constant names.
(function_declaration name: (_) @name body: (_)) @function
(variable_declaration (identifier) @name (struct_declaration) @body) @struct
(variable_declaration (identifier) @name (enum_declaration) @body) @enum
(variable_declaration (identifier) @name (union_declaration) @body) @union
(test_declaration (string (string_content) @label)) @test
(comment) @attach
(ERROR) @error
