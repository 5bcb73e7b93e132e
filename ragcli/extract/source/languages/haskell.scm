; Types, classes, instances, and functions with their signature and all their equations.
(data_type name: (_) @name) @type
(newtype name: (_) @name) @type
(type_synonym name: (_) @name) @type
(class name: (_) @name declarations: (_) @body) @class
(class name: (_) @name) @class
(instance name: (_) @in patterns: (type_patterns . (_) @name) declarations: (_) @body) @impl
(instance name: (_) @in patterns: (type_patterns . (_) @name)) @impl
(declarations (signature name: (_) @label) @function.part)
(function name: (_) @label) @function.part
(bind name: (_) @label) @function.part
(haddock) @attach
(comment) @attach
(pragma) @attach
(ERROR) @error
