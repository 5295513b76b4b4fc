r"""The structure of the skills: a tree from the data, and structures compared by cross-validation.

==================  ======================================================================
symbol              name here
==================  ======================================================================
I(A; B)             ``mutual_information``: of two skills, in bits, over the learned profiles
==================  ======================================================================

A tree of the largest total I is the tree distribution that is closest to that of the profiles
(Chow and Liu, eq. 8).

References
----------
C. Chow and C. Liu, "Approximating discrete probability distributions with dependence trees", IEEE
Trans. Inf. Theory 1968.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from bnmind._arguments import checked
from bnmind._values import Value
from bnmind.adaptive.beliefs.start import beliefs_given
from bnmind.adaptive.items.qmatrix import QMatrix
from bnmind.adaptive.items.skill_distributions import (
    Independent,
    ProfileDistribution,
    Saturated,
)
from bnmind.adaptive.learning.inputs import learning_inputs
from bnmind.adaptive.learning.learn import Learned, learn
from bnmind.adaptive.learning.parameters.options import LearningOptions
from bnmind.adaptive.response_models.base import ResponseModel
from bnmind.adaptive.response_models.dina import Dina
from bnmind.adaptive.responses.folds import fold_numbers
from bnmind.adaptive.responses.responses import Responses
from bnmind.errors import InvalidArgumentError, UnknownNameError
from bnmind.information import Floats
from bnmind.pgm import CPD, Network, TabularCPD

if TYPE_CHECKING:
    import pandas

__all__ = ["SkillStructure", "SkillTree", "compare_structures", "mutual_information", "skill_tree"]

_TIE = 1e-9
"""Bits. Skills whose information differs by less are joined in the order of the bank."""


@checked
def mutual_information(learned: Learned) -> Floats:
    """Return the information of skills about each other, in bits, ``(skills, skills)``.

    The diagonal is the entropy of each skill.

    Parameters
    ----------
    learned
        A bank with the responses from which it was learned, as `bnmind.adaptive.learn` returns it.
    """
    profiles = learned.profiles
    n = profiles.ndim
    table = np.zeros((n, n))
    single = [_entropy(profiles, (axis,)) for axis in range(n)]
    for a, b in combinations(range(n), 2):
        table[a, b] = table[b, a] = single[a] + single[b] - _entropy(profiles, (a, b))
    table[np.arange(n), np.arange(n)] = single
    return table


def _entropy(profiles: Floats, axes: tuple[int, ...]) -> float:
    p = profiles.sum(axis=tuple(a for a in range(profiles.ndim) if a not in axes)).reshape(-1)
    p = p[p > 0]
    return float(-(p @ np.log2(p)))


@checked
def skill_tree(learned: Learned, *, root: str | None = None) -> Network:
    """Return the tree of the skills that is closest to the learned profiles, as a network.

    Parameters
    ----------
    learned
        A bank with a saturated distribution of the skills, or another rich one.
    root
        The skill without a parent; by default the first. All roots give the same distribution.

    Returns
    -------
    Network
        For ``skills`` of `bnmind.adaptive.learn` and of `ItemBank.from_qmatrix`.

    Raises
    ------
    UnknownNameError
        If the root is no skill of the bank.

    Examples
    --------
    >>> from bnmind.adaptive import Examinees, ItemBank, Responses, learn
    >>> q = [[1, 0, 0], [0, 1, 0], [0, 0, 1]] * 3
    >>> chain = [[[0.5, 0.1], [0.05, 0.05]], [[0.0, 0.0], [0.05, 0.25]]]
    >>> truth = ItemBank.from_qmatrix(q, 0.1, 0.1, skills=Saturated(chain))
    >>> seen = Examinees.drawn(truth, 2000, seed=1).responses
    >>> tree = skill_tree(learn(seen, q))
    >>> [(v.name, tree.parents(v.name)) for v in tree.variables]
    [('skill_1', ()), ('skill_2', ('skill_1',)), ('skill_3', ('skill_2',))]
    """
    import networkx as nx

    variables = learned.bank.hidden
    names = [v.name for v in variables]
    if root is not None and root not in names:
        raise UnknownNameError("skill", root, names)
    profiles, information = learned.profiles, mutual_information(learned)
    graph = nx.Graph()
    graph.add_nodes_from(range(len(names)))
    for a, b in combinations(range(len(names)), 2):
        graph.add_edge(a, b, weight=round(float(information[a, b]) / _TIE))
    spanning = nx.maximum_spanning_tree(graph, algorithm="kruskal")
    first = 0 if root is None else names.index(root)
    parent = {child: above for above, child in nx.bfs_edges(spanning, first)}
    cpds: list[CPD] = []
    for place, variable in enumerate(variables):
        axes = (place, parent[place]) if place in parent else (place,)
        ordered = sorted(axes)
        table = profiles.sum(axis=tuple(a for a in range(len(names)) if a not in axes))
        table = table.transpose([ordered.index(a) for a in axes])
        sums = table.sum(axis=0, keepdims=True)
        even = np.full(table.shape, 1 / len(table))
        rows = np.divide(table, sums, out=even, where=sums > 0)
        cpds.append(TabularCPD(variable, tuple(variables[a] for a in axes[1:]), rows))
    return Network(tuple(cpds))


@dataclass(frozen=True)
class SkillTree(Value):
    """A structure to compare: the tree of `skill_tree`, learned anew from each fold's examinees."""


@dataclass(frozen=True, kw_only=True)
class SkillStructure(Value):
    """A structure of the skills, with the likelihood of examinees that it was not learned from."""

    name: str
    """The name of the structure."""
    log_likelihood: float
    """Natural logarithm of the probability of all responses, each under the bank learned from the
    other folds; larger is better."""
    n_parameters: float
    """The mean number of free parameters."""
    behind: float
    """The mean difference of an examinee's log-likelihood from that of the best structure."""
    behind_error: float
    """The standard error of ``behind``; 0 for the best."""


@checked
def compare_structures(
    responses: Responses | pandas.DataFrame | ArrayLike,
    q_matrix: QMatrix | pandas.DataFrame | ArrayLike,
    structures: Mapping[str, ProfileDistribution | Network | SkillTree] | None = None,
    *,
    gate: str | Callable[..., ResponseModel] = Dina,
    options: LearningOptions | None = None,
    folds: int = 10,
    fold_seed: int = 1,
    progress: Callable[[int, int], None] | None = None,
) -> tuple[SkillStructure, ...]:
    """Compare distributions of the skills by cross-validation, the best first.

    Parameters
    ----------
    responses, q_matrix, gate, options
        As for `bnmind.adaptive.learn`.
    structures
        The distributions by name; by default saturated, tree and independent.
    folds, fold_seed
        As for `bnmind.adaptive.cross_validate`.
    progress
        Called with the number of learned banks, and of all.

    Raises
    ------
    InvalidArgumentError
        If there is no structure.
    """
    named: dict[str, ProfileDistribution | Network | SkillTree] = (
        {"saturated": Saturated(), "tree": SkillTree(), "independent": Independent()}
        if structures is None
        else dict(structures)
    )
    if not named:
        raise InvalidArgumentError("expected at least one structure, got none", structures)
    bank, data = learning_inputs(responses, q_matrix, gate, Independent())
    q = QMatrix.of(q_matrix, expected=data.items)
    if q.item_names != bank.item_names:  # a Q-matrix whose rows have no names
        q = QMatrix(q.needs, bank.items, q.skills)
    numbers = fold_numbers(len(data), folds=folds, seed=fold_seed)
    likely = {name: np.empty(len(data)) for name in named}
    sizes = dict.fromkeys(named, 0)
    for fold in range(folds):
        training = data.take(numbers != fold)
        rich: Learned | None = None
        for place, (name, structure) in enumerate(named.items()):
            if isinstance(structure, SkillTree):
                rich = rich or learn(training, q, gate=gate, skills=Saturated(), options=options)
                learned = learn(training, q, gate=gate, skills=skill_tree(rich), options=options)
            else:
                learned = learn(training, q, gate=gate, skills=structure, options=options)
            if isinstance(structure, Saturated) and structure.probabilities is None:
                rich = learned
            held = data.take(numbers == fold).for_bank(learned.bank)
            likely[name][numbers == fold] = beliefs_given(learned.bank, held.codes).log_evidence
            sizes[name] += learned.n_parameters
            if progress is not None:
                progress(fold * len(named) + place + 1, folds * len(named))
    best = max(named, key=lambda name: float(likely[name].sum()))
    rows = []
    for name, values in likely.items():
        off = values - likely[best]
        rows.append(
            SkillStructure(
                name=name,
                log_likelihood=float(values.sum()),
                n_parameters=sizes[name] / folds,
                behind=float(off.mean()),
                behind_error=float(off.std(ddof=1) / np.sqrt(len(off))),
            )
        )
    return tuple(sorted(rows, key=lambda row: -row.log_likelihood))
