"""The exact search: branch and bound over sets of eliminated variables."""
