"""Games, comparisons of strategies, and their records."""
