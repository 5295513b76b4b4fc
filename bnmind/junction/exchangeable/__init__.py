"""Models with interchangeable variables, answered through their numbers of states."""
