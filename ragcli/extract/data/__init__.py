"""JSON, CSV, YAML, TOML and notebooks."""
