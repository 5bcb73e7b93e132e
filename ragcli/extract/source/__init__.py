"""Source code: bounded parses, symbols and the blocks they make."""
