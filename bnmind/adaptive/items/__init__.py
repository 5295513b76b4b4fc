"""Items, banks, Q-matrices and response models: what a test is made of."""

from bnmind.adaptive.items.bank import ItemBank
from bnmind.adaptive.items.bank_files import read_bank, write_bank
from bnmind.adaptive.items.descriptions import describe_bank
from bnmind.adaptive.items.irt import AbilityGrid, irt_bank, logistic_items
from bnmind.adaptive.items.item import Item
from bnmind.adaptive.items.qmatrix import QMatrix
from bnmind.adaptive.items.qmatrix_csv import read_qmatrix
from bnmind.adaptive.items.skill_distributions import (
    Hierarchy,
    Independent,
    ProfileDistribution,
    Saturated,
)

__all__ = [
    "AbilityGrid",
    "Hierarchy",
    "Independent",
    "Item",
    "ItemBank",
    "ProfileDistribution",
    "QMatrix",
    "Saturated",
    "describe_bank",
    "irt_bank",
    "logistic_items",
    "read_bank",
    "read_qmatrix",
    "write_bank",
]
