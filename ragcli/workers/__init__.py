"""Processes that can be killed, and the pool that gives them batches. Knows nothing of documents."""
