; Classes, objects, traits, functions with a body.
(class_definition name: (_) @name) @class
(object_definition name: (_) @name) @object
(package_object name: (_) @name) @object
(trait_definition name: (_) @name) @trait
(enum_definition name: (_) @name) @enum
(function_definition name: (_) @label body: (_)) @function
(given_definition name: (_) @name) @object
(type_definition name: (_) @name) @type
(comment) @attach
(block_comment) @attach
(ERROR) @error
