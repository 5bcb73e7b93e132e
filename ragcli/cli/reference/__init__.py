"""Completion scripts and man pages from the live command tree."""
