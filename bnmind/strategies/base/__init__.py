"""What a strategy is, and the rules of the game it plays."""
