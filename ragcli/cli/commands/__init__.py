"""One module a command or group of commands: reads its options, calls the service, renders."""
