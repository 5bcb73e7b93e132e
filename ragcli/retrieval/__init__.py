"""A query to ranked results. It sees only what a knowledge base offers, never the store."""
