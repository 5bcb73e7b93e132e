; What CREATE makes. The first reference in a statement is its name, a schema before it qualifies it.
(statement (create_table (object_reference) @path)) @table
(statement (create_view (object_reference) @path)) @view
(statement (create_materialized_view (object_reference) @path)) @view
(statement (create_function (object_reference) @path)) @function
(statement (create_procedure (object_reference) @path)) @procedure
(statement (create_trigger (object_reference) @path)) @trigger
(statement (create_type (object_reference) @path)) @type
(statement (create_index column: (_) @name)) @index
(statement (create_index) @label) @index
(comment) @attach
(marginalia) @attach
(ERROR) @error
