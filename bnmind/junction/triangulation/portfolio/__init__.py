"""Finders that combine searches, and the registry of all finders."""
