"""Reader of the marks for diagnosis in an XDSL file.

GeNIe marks a node as a target (``diagtype="target"``), an observation (``diagtype="observation"``)
or neither. The states of a target that are faults have ``fault="true"``. Observations with
``ranked="true"`` are to be ranked by their value.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field

from bnmind._arguments import checked
from bnmind._values import Value
from bnmind.pgm.encoded_names import decoded
from bnmind.pgm.formats.model_format import read_from
from bnmind.pgm.formats.xml import Element, smile_of

__all__ = ["DiagnosisMarks", "read_diagnosis"]


@dataclass(frozen=True, kw_only=True)
class DiagnosisMarks(Value):
    """The roles of variables in a diagnosis; variables without a role are in none of the lists."""

    targets: tuple[str, ...] = ()
    """The variables that the diagnosis is about."""
    observations: tuple[str, ...] = ()
    """The variables that can be observed."""
    ranked: tuple[str, ...] = ()
    """The observations that are to be ranked by their value."""
    faults: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """The states of targets that are faults."""


@checked
def read_diagnosis(path: str | os.PathLike[str]) -> DiagnosisMarks:
    """Return the targets and observations that a ``.xdsl`` file of GeNIe marks for diagnosis.

    Parameters
    ----------
    path
        The file; ``.gz`` if it is compressed. It need not have any marks.

    Raises
    ------
    ModelFileError
        If the file cannot be read or is not of this format, with the place.
    """
    return read_from(path, _marks)


def _marks(data: bytes) -> DiagnosisMarks:
    """Return the marks in an XDSL file; errors as for the network in it."""
    root, encoded = smile_of(data)

    def original(name: str) -> str:
        return decoded(name) if encoded else name

    nodes = root.one("nodes").children
    names = {id(node): original(node.attribute("id")) for node in nodes}
    targets = [node for node in nodes if node.attributes.get("diagtype") == "target"]
    seen = [node for node in nodes if node.attributes.get("diagtype") == "observation"]
    faults = {names[id(node)]: tuple(map(original, _faults(node))) for node in targets}
    return DiagnosisMarks(
        targets=tuple(names[id(node)] for node in targets),
        observations=tuple(names[id(node)] for node in seen),
        ranked=tuple(names[id(node)] for node in seen if node.attributes.get("ranked") == "true"),
        faults={name: states for name, states in faults.items() if states},
    )


def _faults(node: Element) -> list[str]:
    states = node.each("state")
    return [s.attribute("id") for s in states if s.attributes.get("fault") == "true"]
