"""One session: where it is, how it is read and written, and the service that is the engine's one door."""
