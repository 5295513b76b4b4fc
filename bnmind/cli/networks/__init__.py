"""Commands for any network."""
