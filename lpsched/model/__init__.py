"""What all kinds of instances and answers share: fields, tables, reading, hashes, provenance."""
