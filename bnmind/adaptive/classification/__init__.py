"""Classifying people: profiles, skills, person fit, and how reliable the classification is."""

from bnmind.adaptive.classification.classify import Classification, classify

__all__ = ["Classification", "classify"]
