"""Files: strict YAML and JSON, tables, lines of JSON; written whole or not at all."""
