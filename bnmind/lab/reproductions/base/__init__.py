"""Figures, verdicts, and reproductions that compute figures."""
