"""Pages: single HTML files that need nothing else."""
