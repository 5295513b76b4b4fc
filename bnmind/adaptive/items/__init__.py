"""Items, banks, Q-matrices and response models: what a test is made of."""
