"""Item banks of Netica's networks.

Sets of nodes tell the roles, as RNetica and CPTtools use them: the nodes of a set Observables
become items, and those of a set ReportingVars or Proficiencies become skills; without the latter,
all other nodes do. Titles are the labels of skills and the texts of items. Responses and levels
keep the order of the states in the file.
"""

from __future__ import annotations

import os

from bnmind._files import LARGE_FILE, read_text
from bnmind.adaptive.items.bank import ItemBank
from bnmind.adaptive.items.item import Item
from bnmind.errors import ModelFileError
from bnmind.pgm import Network
from bnmind.pgm.formats.net_dne import dne_marks

__all__ = ["netica_bank"]

_ITEMS = ("observables", "observable", "onodes", "items")
_SKILLS = ("reportingvars", "proficiencies", "proficiency", "competencies", "skills")


def netica_bank(path: str | os.PathLike[str], network: Network) -> ItemBank | None:
    """Return the bank of a network of Netica; None if no set of nodes names its items.

    Parameters
    ----------
    path
        The DNE file.
    network
        The network in it.

    Raises
    ------
    ModelFileError
        If a set names a node that is not in the network.
    InvalidModelError
        If the network and the sets are no bank, as when an item has children.
    """
    marks = dne_marks(read_text(path, most=LARGE_FILE))
    sets = {name.lower(): nodes for name, nodes in marks.sets.items()}
    items = next((sets[name] for name in _ITEMS if sets.get(name)), ())
    if not items:
        return None
    names = [v.name for v in network.variables]
    skills = next((sets[name] for name in _SKILLS if sets.get(name)), ())
    skills = skills or tuple(name for name in names if name not in items)
    unknown = [name for name in (*items, *skills) if name not in names]
    if unknown:
        raise ModelFileError(f"a set of nodes of {path} names {unknown[0]}, which is no node")
    titles = {name: title for name, title in marks.titles.items() if title != name}
    return ItemBank(
        network=network,
        skills=skills,
        items=tuple(Item(name, text=titles.get(name, "")) for name in items),
        labels=tuple(titles.get(name, name) for name in skills),
    )
