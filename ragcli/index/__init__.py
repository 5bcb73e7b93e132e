"""The search structures. They have no disk of their own: they read through a CheckedFile and write bytes to a sink."""
