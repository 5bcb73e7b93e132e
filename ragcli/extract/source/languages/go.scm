; Functions, methods under their receiver's type, types.
(function_declaration name: (_) @name) @function
(method_declaration receiver: (parameter_list (parameter_declaration type: (type_identifier) @in)) name: (_) @name) @method
(method_declaration receiver: (parameter_list (parameter_declaration type: (generic_type type: (_) @in))) name: (_) @name) @method
(method_declaration receiver: (parameter_list (parameter_declaration type: (pointer_type (type_identifier) @in))) name: (_) @name) @method
(method_declaration receiver: (parameter_list (parameter_declaration type: (pointer_type (generic_type type: (_) @in)))) name: (_) @name) @method
(method_declaration name: (_) @name) @method
(type_declaration . (type_spec name: (_) @name type: (struct_type (field_declaration_list) @body)) .) @struct
(type_declaration . (type_spec name: (_) @name type: (interface_type)) .) @interface
(type_declaration . (type_spec name: (_) @name) .) @type
(type_declaration . (type_alias name: (_) @name) .) @type
(type_spec name: (_) @name type: (struct_type (field_declaration_list) @body)) @struct
(type_spec name: (_) @name type: (interface_type)) @interface
(type_spec name: (_) @name) @type
(var_declaration . (var_spec name: (_) @name value: (expression_list . (func_literal body: (_) @body) .)) .) @function
(comment) @attach
(ERROR) @error
