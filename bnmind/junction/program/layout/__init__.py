"""The messages of large junction trees, laid out in compiled code."""
