"""Engines: a compiled model that answers any question under any evidence."""
