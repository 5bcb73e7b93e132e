; Types, members with a body; namespaces qualify names.
(class_declaration name: (_) @name) @class
(interface_declaration name: (_) @name) @interface
(struct_declaration name: (_) @name) @struct
(enum_declaration name: (_) @name) @enum
(record_declaration name: (_) @name) @record
(delegate_declaration name: (_) @name) @type
(method_declaration name: (_) @name body: (_)) @method
(constructor_declaration name: (_) @name) @constructor
(destructor_declaration name: (_) @name) @destructor
(operator_declaration operator: _ @label body: (_)) @method
(conversion_operator_declaration type: (_) @name body: (_)) @method
(indexer_declaration "this" @name accessors: (accessor_list (accessor_declaration body: (block)))) @property
(property_declaration name: (_) @name accessors: (accessor_list (accessor_declaration body: (block))) @body) @property
(local_function_statement name: (_) @name body: (_)) @function
(namespace_declaration name: (_) @name) @scope
(comment) @attach
(ERROR) @error
