"""Response models in which each skill adds to the chance of success on the scale of a link."""
