"""Published figures of Mastermind."""
