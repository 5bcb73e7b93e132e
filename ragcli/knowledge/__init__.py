"""Declared knowledge: sources named once in a file, each reaching chat and actions in its own way."""
