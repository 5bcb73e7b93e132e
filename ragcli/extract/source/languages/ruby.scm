; Modules, classes, methods.
(module name: (_) @path) @module
(class name: (_) @path) @class
(method name: (_) @label) @function
(singleton_method name: (_) @label) @function
(comment) @attach
(ERROR) @error
