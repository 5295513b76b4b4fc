"""Commands for Mastermind."""
