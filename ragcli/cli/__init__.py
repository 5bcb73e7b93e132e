"""The command line: parses arguments, calls the engine's one door, renders answers. The only room that prints."""
