"""Views of networks and beliefs: pictures for notebooks, tables for terminals."""

from bnmind.views.figures import JunctionTreeView, junction_tree_view
from bnmind.views.layout import Layout, Spacing, lay_out
from bnmind.views.view import (
    BeliefView,
    NetworkView,
    SideBySide,
    belief_view,
    clickable,
    network_view,
    side_by_side,
)

__all__ = [
    "BeliefView",
    "JunctionTreeView",
    "Layout",
    "NetworkView",
    "SideBySide",
    "Spacing",
    "belief_view",
    "clickable",
    "junction_tree_view",
    "lay_out",
    "network_view",
    "side_by_side",
]
