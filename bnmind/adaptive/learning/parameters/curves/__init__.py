"""Learning items whose responses follow a curve of an ability, or of the levels of skills."""
