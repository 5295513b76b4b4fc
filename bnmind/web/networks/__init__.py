"""Networks on pages: evidence by clicks, posteriors, and what to observe next."""
