"""The game of one person: its rows, its file, plain words about it, and a look back."""
