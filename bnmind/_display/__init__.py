"""Values as text and as HTML tables, for prompts and notebooks."""
