"""ragcli turns directories into a local, ranked, citable index, and a question into a prompt."""

__version__ = "0.1.0"
