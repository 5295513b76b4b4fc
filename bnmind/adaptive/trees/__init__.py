"""Adaptive tests as trees: evaluated exactly, optimized, and written as files and paper tests."""

from bnmind.adaptive.trees.aims import (
    AIMS,
    Aim,
    CostOfCertainty,
    EntropyOfSkills,
    ProfileLoss,
    SkillLoss,
    aim_by_name,
)
from bnmind.adaptive.trees.evaluation import CertifiedInterval, DesignEvaluation, evaluate_design
from bnmind.adaptive.trees.files import ITEM_TREE_FORMATS, read_item_tree, write_item_tree
from bnmind.adaptive.trees.item_tree import (
    Branch,
    ItemNode,
    ItemTree,
    design_tree,
    fixed_tree,
    item_tree,
)
from bnmind.adaptive.trees.optimal import (
    FixedTest,
    OptimalTest,
    Panel,
    PanelModule,
    PanelRoute,
    fixed_test,
    optimal_test_tree,
    panel_test,
    search_problem,
)

__all__ = [
    "AIMS",
    "ITEM_TREE_FORMATS",
    "Aim",
    "Branch",
    "CertifiedInterval",
    "CostOfCertainty",
    "DesignEvaluation",
    "EntropyOfSkills",
    "FixedTest",
    "ItemNode",
    "ItemTree",
    "OptimalTest",
    "Panel",
    "PanelModule",
    "PanelRoute",
    "ProfileLoss",
    "SkillLoss",
    "aim_by_name",
    "design_tree",
    "evaluate_design",
    "fixed_test",
    "fixed_tree",
    "item_tree",
    "optimal_test_tree",
    "panel_test",
    "read_item_tree",
    "search_problem",
    "write_item_tree",
]
