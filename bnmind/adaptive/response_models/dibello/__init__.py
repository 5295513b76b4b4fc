"""DiBello models: distributions that an expert describes by slopes and difficulties."""

from bnmind.adaptive.response_models.dibello.combination import Combination
from bnmind.adaptive.response_models.dibello.link import Link
from bnmind.adaptive.response_models.dibello.steps import DiBello

__all__ = ["Combination", "DiBello", "Link"]
