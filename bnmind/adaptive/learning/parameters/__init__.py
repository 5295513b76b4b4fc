"""The maximization step: parameters of items and skills from expected counts."""
