"""Layout of graphs, and drawing as SVG and text."""
