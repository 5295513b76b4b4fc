"""The light path for a few targets: no plan, only the elimination of the variables that matter."""
