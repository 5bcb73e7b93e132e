"""Characters: which of them could mislead a reader or drive a terminal, and where a text may be cut. Pure."""
