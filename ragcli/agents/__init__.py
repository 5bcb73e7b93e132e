"""Doors for coding agents: an MCP server over the session service, and the configuration of MCP clients."""
