"""Views of networks and beliefs: pictures for notebooks, tables for terminals."""

from bnmind.views.clickable_picture import clickable
from bnmind.views.drawing.layout import Layout, Spacing, lay_out
from bnmind.views.tree_view import JunctionTreeView, junction_tree_view
from bnmind.views.view import (
    BeliefView,
    NetworkView,
    SideBySide,
    belief_view,
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
