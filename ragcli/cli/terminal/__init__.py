"""Streams, terminals, progress and notices."""
