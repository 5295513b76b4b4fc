"""The networks in pgmpy's wheel, questions about them, and pyAgrum's copy of a network.

For the tests and for the benchmarks: both ask the same questions of the same tables.
"""

from __future__ import annotations

import gzip
import importlib.resources
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bnmind.information import Floats
from bnmind.pgm import Network
from bnmind.pgm.files import read_network
from bnmind.pgm.formats import quiet_pgmpy

__all__ = [
    "EVIDENCE",
    "NAMES",
    "Question",
    "ask",
    "bif_text",
    "pyagrum_network",
    "read_wheel",
    "sample",
    "state_names",
]

SMALL = (
    *("cancer", "earthquake", "survey", "asia", "sachs", "child"),
    *("alarm", "insurance", "win95pts", "hepar2", "hailfinder", "andes"),
)
"""Their tables have 4,000 cells at most, and any engine answers at once."""

NAMES = (
    *SMALL,
    *("water", "pigs", "munin1", "link", "pathfinder", "munin2"),
    *("munin3", "munin4", "munin", "barley", "diabetes", "mildew"),
)
"""All 24, roughly from small to large."""

EVIDENCE = ("none", "leaves", "random")
"""No evidence; on a tenth of the variables, leaves first; on a random tenth."""


def bif_text(name: str) -> str:
    """Return the file of a network as it is in the wheel."""
    with quiet_pgmpy():
        folder = importlib.resources.files("pgmpy") / "utils" / "example_models"
    return gzip.decompress((folder / f"{name}.bif.gz").read_bytes()).decode()


def read_wheel(name: str) -> Network:
    """Return a network of the wheel, its rows normalized."""
    with TemporaryDirectory() as folder:
        path = Path(folder, f"{name}.bif")
        path.write_text(bif_text(name), encoding="utf-8")
        return read_network(path)


@dataclass(frozen=True)
class Question:
    """All single posteriors given evidence, and given other states of the same variables."""

    findings: Mapping[str, int]
    """State positions of the evidence, possible together."""
    others: Mapping[str, int]
    """The same variables in states that are possible together too."""
    targets: tuple[str, ...]
    """All the other variables, by name."""


def ask(network: Network, evidence: str, *, seed: int = 1) -> Question:
    """Return the question about a network, which depends on its tables and the seed only.

    Parameters
    ----------
    network
        The order of its variables does not matter.
    evidence
        One of `EVIDENCE`.
    seed
        Of the choice of the variables and of the cases that their states come from.
    """
    rng = np.random.default_rng(seed)
    names = sorted(v.name for v in network.variables)
    parents = {v.name for cpd in network.cpds for v in cpd.parents}
    if evidence == "leaves":
        observed = [str(x) for x in rng.permutation([x for x in names if x not in parents])]
        observed += [str(x) for x in rng.permutation([x for x in names if x in parents])]
    else:
        observed = [str(x) for x in rng.permutation(names)]
    observed = sorted(observed[: max(1, len(names) // 10) if evidence != "none" else 0])

    def draw() -> dict[str, int]:
        case = sample(network, {name: rng.random(1) for name in names})
        return {name: int(case[name][0]) for name in observed}

    first = draw()
    # Where most states are all but certain, two cases are often the same.
    others = max(
        (draw() for _ in range(20)),
        key=lambda other: sum(first[name] != other[name] for name in observed),
    )
    return Question(first, others, tuple(x for x in names if x not in first))


def sample(network: Network, luck: Mapping[str, Floats]) -> dict[str, NDArray[np.intp]]:
    """Return cases: for each variable the states that its numbers in [0, 1) fall on."""
    cases: dict[str, NDArray[np.intp]] = {}
    for cpd in network.cpds:
        rows = np.moveaxis(_table(cpd), 0, -1)[tuple(cases[v.name] for v in cpd.parents)]
        steps = np.cumsum(rows, axis=-1)
        reached = luck[cpd.variable.name][:, None] * steps[..., -1:]
        cases[cpd.variable.name] = (steps <= reached).sum(axis=-1)
    return cases


def _table(cpd: Any) -> Floats:
    """Return a table, the child's axis first."""
    values: Floats = np.real(cpd.to_factor().values)
    return values


def state_names(network: Network, findings: Mapping[str, int]) -> dict[str, str]:
    """Return evidence by the names of its states, for engines that want these."""
    states = {v.name: v.states for v in network.variables}
    return {name: states[name][position] for name, position in findings.items()}


def pyagrum_network(network: Network) -> Any:
    """Return pyAgrum's copy, filled number by number: its BIF reader keeps 32 bits of each.

    States are called 0, 1, … there.
    """
    import pyagrum as gum

    copy = gum.BayesNet()
    for variable in network.variables:
        labels = [str(state) for state in range(variable.n_states)]
        copy.add(gum.LabelizedVariable(variable.name, variable.name, labels))
    for cpd in network.cpds:
        for parent in cpd.parents:
            copy.addArc(parent.name, cpd.variable.name)
    for cpd in network.cpds:
        table = copy.cpt(cpd.variable.name)
        assert list(table.names) == [v.name for v in cpd.scope]
        # Its first axis is the one that runs fastest.
        table.fillWith(_table(cpd).ravel(order="F").tolist())
    return copy
