"""Response models and distributions of the skills, as ``bnmind learn`` names them.

Names are read in any case of letters.
"""

from __future__ import annotations

import runpy
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from bnmind._registry import listed_names, made_by_name
from bnmind.cli.shared.terminal import naming, printable
from bnmind.errors import BnmindError, UnknownNameError

if TYPE_CHECKING:
    from bnmind.adaptive import ProfileDistribution, QMatrix, ResponseModel
    from bnmind.pgm import Network

__all__ = [
    "gate_of",
    "qmatrix_for",
    "skills_name",
    "skills_of",
    "usual_skills",
]

_HIERARCHY = "hierarchy:"


def gate_of(name: str) -> Callable[..., ResponseModel]:
    """Return the maker of a response model by its name, or of the user's own."""
    from bnmind.adaptive import Sequential
    from bnmind.adaptive.response_models import registry

    if not _is_own_model(name):
        return registry.gate_of(name)
    name = registry.gate_name(name)
    if name.startswith(registry.STEPS):
        return Sequential.of(_own_model(name.removeprefix(registry.STEPS)))
    return _own_model(name)


def skills_name(name: str) -> str:
    """Return the name of a distribution of the skills as the registry has it.

    >>> skills_name("Higher-Order:1pl"), skills_name("HIERARCHY:A>B")
    ('higher-order:1PL', 'hierarchy:A>B')
    """
    if _is_network(name):
        return f"as in the network {printable(name)}"
    from bnmind.adaptive import SKILL_DISTRIBUTIONS

    first, colon, argument = name.partition(":")
    lower = first.lower()
    if lower + colon == _HIERARCHY:
        return f"{_HIERARCHY}{argument}"
    return f"{lower}{colon}{argument.upper()}" if lower in SKILL_DISTRIBUTIONS else name


def usual_skills(n_skills: int) -> str:
    """Return the name of the default distribution of so many skills."""
    from bnmind.adaptive.learning.model import SATURATED_SKILLS

    return "saturated" if n_skills <= SATURATED_SKILLS else "independent"


def skills_of(name: str | None) -> ProfileDistribution | Network | None:
    """Return a distribution of the skills by its name, or the network in a file of this name."""
    from bnmind.adaptive import SKILL_DISTRIBUTIONS

    if name is None:
        return None
    if _is_network(name):
        from bnmind.adaptive import read_bank
        from bnmind.pgm.files import read_network

        return read_bank(name).hidden_network() if _is_bank(name) else read_network(name)
    name = skills_name(name)
    if name.startswith(_HIERARCHY):
        return _hierarchy(name.removeprefix(_HIERARCHY))
    return made_by_name("distribution of the skills", SKILL_DISTRIBUTIONS, name)


def _is_network(name: str) -> bool:
    """Return whether a name is that of a file of a network."""
    from bnmind.pgm.files import NETWORK_SUFFIXES

    return name.lower().endswith(NETWORK_SUFFIXES)


def _is_bank(name: str) -> bool:
    """Return whether a file is that of a bank, not of a network alone."""
    path = Path(name)
    if path.suffix.lower() != ".json" or not path.is_file():
        return False
    with path.open(encoding="utf-8", errors="replace") as file:
        return '"bnmind-bank"' in file.read(200)


def _hierarchy(text: str) -> ProfileDistribution:
    """Return the hierarchy of pairs such as ``count>add,count>order``, the prerequisite first."""
    from bnmind.adaptive import Hierarchy

    needed: dict[str, list[str]] = {}
    for pair in listed_names(text, ","):
        first, sign, second = (part.strip() for part in pair.partition(">"))
        if not (first and sign and second):
            raise BnmindError(
                f"expected pairs of skills such as hierarchy:count>add,count>order, got {text!r}"
            )
        needed.setdefault(second, []).append(first)
    return Hierarchy(needed, saturated=True)


def _is_own_model(name: str) -> bool:
    """Return whether a name is that of a class in a Python file."""
    return ".py:" in name


def _own_model(name: str) -> Callable[..., ResponseModel]:
    """Run a file of the user's own, ``FILE.py:CLASS``, and return its class of response models.

    Raises
    ------
    BnmindError
        If the file cannot be run, or the name is not that of a `ParametricModel`.
    """
    from bnmind.adaptive import ParametricModel

    file, _, wanted = name.rpartition(":")
    path = Path(file)
    if not path.is_file():
        raise BnmindError(
            f"expected a Python file with response models, found no {printable(file)}"
        )
    try:
        names = runpy.run_path(str(path))
    except Exception as fault:
        raise BnmindError(
            f"{printable(file)} cannot be run: {type(fault).__name__}: {fault}"
        ) from fault
    models = {
        key: value
        for key, value in names.items()
        if isinstance(value, type)
        and issubclass(value, ParametricModel)
        and value is not ParametricModel
    }
    if wanted not in models:
        if not models:
            raise BnmindError(f"{printable(file)} defines no subclass of ParametricModel")
        raise UnknownNameError("response model", wanted, models)
    return models[wanted]


def qmatrix_for(path: Path, responses: Path, fixed_width: int | None) -> QMatrix:
    """Return the Q-matrix in a file; the names in the responses may tell where its items are."""
    from bnmind.adaptive import QMatrix
    from bnmind.adaptive.items.tables.text_table import read_table
    from bnmind.adaptive.responses.responses import names_in

    table = read_table(path)
    expected: tuple[str, ...] = ()
    if "item" not in [name.strip().lower() for name in table.header or ()]:
        with naming(responses):
            expected = names_in(read_table(responses, fixed_width=fixed_width))
    with naming(path):
        return QMatrix.of(table, expected=expected)
