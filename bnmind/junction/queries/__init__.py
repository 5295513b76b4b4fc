"""Other questions than marginals: explanations, samples."""
