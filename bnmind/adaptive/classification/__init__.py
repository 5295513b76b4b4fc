"""Classifying people: profiles, skills, person fit, and how reliable the classification is."""
