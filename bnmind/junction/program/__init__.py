"""Programs of contractions that a plan runs."""
