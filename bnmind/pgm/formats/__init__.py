"""Files that hold networks: one format, one module."""
