"""Settings: options as values, the keys they have, the files they come from, and how layers resolve."""
