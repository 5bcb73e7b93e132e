; Items; methods hang on the type of their impl block.
(function_item name: (_) @name) @function
(struct_item name: (_) @name) @struct
(enum_item name: (_) @name) @enum
(union_item name: (_) @name) @union
(trait_item name: (_) @name) @trait
(impl_item type: (type_identifier) @name) @impl
(impl_item type: (generic_type type: (_) @name)) @impl
(impl_item type: (_) @name) @impl
(type_item name: (_) @name) @type
(macro_definition name: (_) @name) @macro
(mod_item name: (_) @name body: (_)) @scope
(line_comment) @attach
(block_comment) @attach
(attribute_item) @attach
(ERROR) @error
