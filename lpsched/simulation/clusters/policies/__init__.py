"""The policies for clusters, one per file."""
