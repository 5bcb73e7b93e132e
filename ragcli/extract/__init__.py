"""Bytes to NormalizedDocument, one small module a family of formats. Opens no file, knows no chunks and no index."""
