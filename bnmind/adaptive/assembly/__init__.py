"""Constraints on a whole test, and the items that keep it possible to meet them all."""

from bnmind.adaptive.assembly.blueprint import Blueprint
from bnmind.adaptive.assembly.bounds import Bound, CodeBound, ItemsBound, SkillBound
from bnmind.adaptive.assembly.content_order import ContentOrder
from bnmind.adaptive.assembly.shadow_test import ShadowTest
from bnmind.adaptive.assembly.stages import Stage, Staged, StageItems, StartItems

__all__ = [
    "Blueprint",
    "Bound",
    "CodeBound",
    "ContentOrder",
    "ItemsBound",
    "ShadowTest",
    "SkillBound",
    "Stage",
    "StageItems",
    "Staged",
    "StartItems",
]
