"""The search structures. They have no disk of their own: they read through a Blob and write bytes to a sink."""
