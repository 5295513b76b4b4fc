"""The programs of plans, which are sequences of contractions."""
