"""Every read and write of files."""
