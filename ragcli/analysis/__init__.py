"""Text to terms: analyzers, identifiers and synonyms. Pure."""
