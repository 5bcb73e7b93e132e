"""The only room that touches the data directory. It never analyzes text and never opens a user's file."""
