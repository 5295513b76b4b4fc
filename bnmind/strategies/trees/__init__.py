"""Strategy trees: growing, checking, comparing, drawing and files."""

from bnmind.strategies.trees.check import check_tree, walk_tree
from bnmind.strategies.trees.compare import Parting, TreeComparison, compare_trees
from bnmind.strategies.trees.files import (
    TREE_FORMATS,
    TREE_SUFFIXES,
    TreeFormat,
    read_tree,
    write_tree,
)
from bnmind.strategies.trees.myopic_tree import (
    MAX_TREE_CODES,
    GrownTree,
    grow_exactly,
    is_growable,
    myopic_rule,
    smallest_guesses,
)
from bnmind.strategies.trees.planned_strategy import Planned, Planner, PlansAhead, strategy_tree
from bnmind.strategies.trees.plot import tree_to_svg
from bnmind.strategies.trees.tree import (
    Lengths,
    Path,
    StrategyTree,
    TreeNode,
    build_tree,
    grow_tree,
)
from bnmind.strategies.trees.tree_dot import tree_from_dot, tree_to_dot
from bnmind.strategies.trees.tree_json import tree_from_json, tree_to_json
from bnmind.strategies.trees.tree_text import tree_from_text, tree_to_text

__all__ = [
    "MAX_TREE_CODES",
    "TREE_FORMATS",
    "TREE_SUFFIXES",
    "GrownTree",
    "Lengths",
    "Parting",
    "Path",
    "Planned",
    "Planner",
    "PlansAhead",
    "StrategyTree",
    "TreeComparison",
    "TreeFormat",
    "TreeNode",
    "build_tree",
    "check_tree",
    "compare_trees",
    "grow_exactly",
    "grow_tree",
    "is_growable",
    "myopic_rule",
    "read_tree",
    "smallest_guesses",
    "strategy_tree",
    "tree_from_dot",
    "tree_from_json",
    "tree_from_text",
    "tree_to_dot",
    "tree_to_json",
    "tree_to_svg",
    "tree_to_text",
    "walk_tree",
    "write_tree",
]
