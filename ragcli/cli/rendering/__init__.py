"""Results as people and programs read them. Pure functions to text."""
