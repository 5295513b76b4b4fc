"""The belief mass of every reply to every guess."""
