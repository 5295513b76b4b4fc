"""The pages of bnmind, and the programs that build them."""
