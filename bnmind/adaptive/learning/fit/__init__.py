"""How well a learned bank fits, and how sure its parameters are."""
