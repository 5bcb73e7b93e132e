"""A directory to documents to chunks. Opens files of the user read-only and writes nothing."""
