"""In-memory streams and their fusion, for programs that hold their own documents."""
