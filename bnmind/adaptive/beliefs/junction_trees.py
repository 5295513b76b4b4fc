"""Beliefs by a junction tree over the skills, of one examinee or many, for any number of skills.

Items are leaves, so they are not in the tree: a response is a column of the item's
channel, multiplied into a clique that holds the cause. The tree is therefore the same
after any number of responses, and compiled once.

=========  ==================================================================
symbol     name here
=========  ==================================================================
P(C)       ``joints[c]``, the joint of a clique given the responses
P(S)       the joint of a separator
H          Σ_C H(P(C)) − Σ_S H(P(S)), as P = Π P(C) / Π P(S)
=========  ==================================================================

The most probable states of all variables are found by messages that are passed inward with maxima
instead of sums, each divided by the separator's joint; the maximizing states are read off on the
way back: max Π P(C) / Π P(S).

References
----------
S. Lauritzen and D. Spiegelhalter, "Local computations with probabilities on graphical
structures", J. R. Stat. Soc. B 1988; A. P. Dawid, "Applications of a general propagation
algorithm for probabilistic expert systems", Stat. Comput. 1992.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from bnmind._arguments import checked, checked_if_it_fails, positions
from bnmind._messages import counted
from bnmind._values import Value, sealed
from bnmind.adaptive.beliefs.belief import (
    MISSING,
    AnsweredBatch,
    AnsweredBelief,
    BatchAnswers,
    BatchProfiles,
    CauseIndex,
    Profile,
    Responses,
    answers_without,
    checked_error_chances,
    checked_response,
    impossible_responses,
    impossible_rows,
    likelihood,
)
from bnmind.adaptive.beliefs.tables import SubsetSums
from bnmind.adaptive.items.bank import ItemBank
from bnmind.errors import ImpossibleEvidenceError, TooLargeError, UnknownNameError
from bnmind.information import Floats, unchecked_entropy
from bnmind.junction import (
    InteractionGraph,
    JunctionTree,
    Limits,
    OrderFinder,
    Plan,
    Posterior,
    compile_plan,
)
from bnmind.junction.inference.limits import DEFAULT_PLAN_BYTES, DEFAULT_PLAN_MULTIPLICATIONS
from bnmind.junction.triangulation.randomized import RandomizedGreedy
from bnmind.pgm import Network

_TIE = 1e-12
"""Products closer than this, relative to the largest, count as equal."""


def most_probable_states(
    tree: JunctionTree, joints: Sequence[Floats]
) -> tuple[dict[str, int], float]:
    """Return the most probable joint state of all variables, and its probability.

    Parameters
    ----------
    tree
        A junction tree.
    joints
        The normalized joint of each clique, with an axis for each of its variables; they
        agree on the separators.
    """
    scopes = [clique.variables for clique in tree.cliques]
    outward = _outward(tree)
    tables = [np.array(joint) for joint in joints]
    for inner, outer, separator in reversed(outward):
        scope = scopes[outer]
        summed = tuple(i for i, name in enumerate(scope) if name not in separator)
        share = joints[outer].sum(axis=summed)
        best = tables[outer].max(axis=summed)
        ratio = np.divide(best, share, out=np.zeros(share.shape), where=share > 0)
        shared = [name for name in scope if name in separator]
        tables[inner] *= _fitted(ratio, shared, scopes[inner])
    states: dict[str, int] = {}
    root = len(scopes) - 1
    for clique in [root, *(outer for _, outer, _ in outward)]:
        known = tuple(states.get(name, slice(None)) for name in scopes[clique])
        free = [name for name in scopes[clique] if name not in states]
        remaining = tables[clique][known]
        first = int(np.flatnonzero(remaining >= remaining.max() * (1 - _TIE))[0])
        indices = np.unravel_index(first, remaining.shape)
        states.update((name, int(i)) for name, i in zip(free, indices, strict=True))
    return states, float(tables[root].max())


def _outward(tree: JunctionTree) -> list[tuple[int, int, tuple[str, ...]]]:
    """Return the edges as (inner, outer, separator), those near the last clique first."""
    neighbors: list[list[tuple[int, tuple[str, ...]]]] = [[] for _ in tree.cliques]
    for first, second, separator in tree.edges:
        neighbors[first].append((second, separator))
        neighbors[second].append((first, separator))
    edges = []
    waiting = [len(tree.cliques) - 1]
    seen = set(waiting)
    while waiting:
        inner = waiting.pop()
        for outer, separator in neighbors[inner]:
            if outer not in seen:
                seen.add(outer)
                waiting.append(outer)
                edges.append((inner, outer, separator))
    return edges


def _fitted(values: Floats, names: Sequence[str], scope: Sequence[str]) -> Floats:
    """Return a table over ``names`` that broadcasts over the axes of ``scope``."""
    order = sorted(range(len(names)), key=lambda i: scope.index(names[i]))
    sizes = dict(zip(names, values.shape, strict=True))
    return np.transpose(values, order).reshape([sizes.get(name, 1) for name in scope])


DEFAULT_TREE_CELLS = 2**24
"""The default limit of cells in a tree."""

_BYTES_OF_A_CELL, _WORK_OF_A_CELL = 256, 256
"""Limits of a plan for each cell that the tree may have; no plan needs as much."""


@dataclass(frozen=True, eq=False)
class SkillTree:
    """A bank's junction tree, compiled; shared by all beliefs about its examinees.

    Parameters
    ----------
    bank
        The item bank.
    max_cells
        The limit of cells in all cliques together.
    order
        The method that finds an elimination order.

    Raises
    ------
    TooLargeError
        If the tree has more cells; the message says how many. No table is allocated.
    """

    bank: ItemBank
    max_cells: int = DEFAULT_TREE_CELLS
    order: OrderFinder | None = None

    def __post_init__(self) -> None:
        if (needed := self.total_size) > (budget := self.max_cells):
            n, n_items = len(self.bank.hidden), len(self.bank.items)
            causes = f"{n} hidden variables and the causes of {n_items} items"
            told = f"the junction tree of {causes} has {needed:,} cells; the limit is {budget:,}"
            raise TooLargeError(told, needed=needed, budget=budget)

    def __reduce__(self) -> tuple[Any, ...]:
        return (SkillTree, (self.bank, self.max_cells, self.order))

    @cached_property
    def tree(self) -> JunctionTree:
        """The junction tree over the hidden variables."""
        sizes = {v.name: v.n_states for v in self.bank.hidden}
        scopes = [[v.name for v in cpd.scope] for cpd in self.bank.hidden_network().cpds]
        graph = InteractionGraph.from_scopes(sizes, [*scopes, *self.bank.causes])
        return JunctionTree.from_order(graph, (self.order or RandomizedGreedy())(graph))

    @property
    def total_size(self) -> int:
        """The number of cells of all cliques together, known before any table is made."""
        return self.tree.total_size

    @cached_property
    def scopes(self) -> tuple[tuple[str, ...], ...]:
        """The variables of each clique."""
        return tuple(clique.variables for clique in self.tree.cliques)

    @cached_property
    def shapes(self) -> tuple[tuple[int, ...], ...]:
        """The number of states of the variables of each clique."""
        n_states = {v.name: v.n_states for v in self.bank.hidden}
        return tuple(tuple(n_states[name] for name in scope) for scope in self.scopes)

    @cached_property
    def input_names(self) -> tuple[str, ...]:
        """The name of the plan's input for each clique: the likelihood of its responses."""
        return tuple(f"responses {number}" for number in range(len(self.scopes)))

    @property
    def _limits(self) -> Limits:
        return Limits(
            max_bytes=max(DEFAULT_PLAN_BYTES, _BYTES_OF_A_CELL * self.max_cells),
            max_multiplications=max(DEFAULT_PLAN_MULTIPLICATIONS, _WORK_OF_A_CELL * self.max_cells),
            max_seconds=math.inf,
        )

    @cached_property
    def plan(self) -> Plan:
        """The plan from the likelihoods of all cliques to their joint distributions."""
        return compile_plan(
            self.bank.hidden_network(),
            targets=self.scopes,
            inputs=dict(zip(self.input_names, self.scopes, strict=True)),
            limits=self._limits,
        )

    def home(self, names: Sequence[str]) -> int:
        """Return the smallest clique that holds all of these variables."""
        needed = set(names)
        sizes = [
            (clique.size, number)
            for number, clique in enumerate(self.tree.cliques)
            if needed <= set(clique.variables)
        ]
        return min(sizes)[1]

    @cached_property
    def homes(self) -> tuple[int, ...]:
        """The clique of each of the bank's causes."""
        return tuple(self.home(cause) for cause in self.bank.causes)

    @cached_property
    def _inside(self) -> tuple[tuple[SubsetSums, ...], tuple[int, ...], tuple[slice, ...]]:
        """The sums in each clique, the start of each cause and the slice of each separator."""
        sets_of_clique: list[list[tuple[int, tuple[str, ...]]]] = [[] for _ in self.scopes]
        for number, cause in enumerate(self.bank.causes):
            sets_of_clique[self.homes[number]].append((number, cause))
        n_causes = len(self.bank.causes)
        for number, edge in enumerate(self.tree.edges):
            if not edge.separator:
                continue
            smaller = min(edge[:2], key=lambda c: self.tree.cliques[c].size)
            sets_of_clique[smaller].append((n_causes + number, edge.separator))
        starts: dict[int, int] = {}
        lengths: dict[int, int] = {}
        sums, end = [], 0
        for scope, shape, sets in zip(self.scopes, self.shapes, sets_of_clique, strict=True):
            axes = [sorted(scope.index(name) for name in names) for _, names in sets]
            clique_sums = SubsetSums.compile(shape, axes)
            places = zip(sets, clique_sums.starts, clique_sums.sizes, strict=True)
            for (number, _), start, size in places:
                starts[number], lengths[number] = end + start, size
            sums.append(clique_sums)
            end += clique_sums.n_cells
        causes = tuple(starts[i] for i in range(n_causes))
        separators = tuple(
            slice(starts[i], starts[i] + lengths[i]) for i in starts if i >= n_causes
        )
        return tuple(sums), causes, separators

    @cached_property
    def index(self) -> CauseIndex:
        """The places of each item's masses in the row of `marginals`."""
        return CauseIndex.of(self.bank, self._inside[1])

    def marginals(self, joints: Sequence[Floats]) -> Floats:
        """Return the masses of all parent configurations and separators end to end, ``(…, cells)``.

        Parameters
        ----------
        joints
            The joint of each clique, ``(…, *states)``.
        """
        rows = [
            sums(_flat(joint, shape))
            for sums, joint, shape in zip(self._inside[0], joints, self.shapes, strict=True)
            if sums.sizes
        ]
        return np.concatenate(rows, axis=-1)

    def entropy(self, joints: Sequence[Floats], row: Floats) -> Floats:
        """Return the entropy of all hidden variables jointly, in bits, ``(…,)``.

        Parameters
        ----------
        joints
            As for `marginals`.
        row
            The result of `marginals`.
        """
        total: Any = 0.0
        for joint, shape in zip(joints, self.shapes, strict=True):
            total = total + unchecked_entropy(_flat(joint, shape))
        for place in self._inside[2]:
            total = total - unchecked_entropy(row[..., place])
        result: Floats = np.maximum(total, 0.0)
        return result

    def marginal(self, joints: Sequence[Floats], name: str) -> Floats:
        """Return the distribution of a hidden variable, ``(…, states)``."""
        if name not in self._places:
            raise UnknownNameError("skill", name, self._places)
        clique = self._places[name]
        joint, scope = joints[clique], self.scopes[clique]
        axes = tuple(i - len(scope) for i, other in enumerate(scope) if other != name)
        summed: Floats = joint.sum(axis=axes)
        return summed

    @cached_property
    def _places(self) -> dict[str, int]:
        return {v.name: self.home([v.name]) for v in self.bank.hidden}

    def spread(self, cause: int, column: Floats) -> Floats:
        """Return a function of a cause as a table that broadcasts over the clique of that cause."""
        clique = self.homes[cause]
        names = self.bank.causes[cause]
        n_states = dict(zip(self.scopes[clique], self.shapes[clique], strict=True))
        values = column.reshape([n_states[name] for name in names])
        order = sorted(range(len(names)), key=lambda i: self.scopes[clique].index(names[i]))
        wide = [n_states[name] if name in names else 1 for name in self.scopes[clique]]
        return np.transpose(values, order).reshape(wide)

    def profile(self, joints: Sequence[Floats], inputs: Mapping[str, Floats]) -> Profile:
        """Return the most probable profile of the skills.

        Parameters
        ----------
        joints
            The joint of each clique.
        inputs
            The plan's inputs that led to these joints. Hidden variables other than the skills
            are summed out first, by a plan of their own.

        Raises
        ------
        TooLargeError
            If the tree over the skills alone is too large.
        """
        tree = self.tree
        if len(self.bank.hidden) > len(self.bank.skills):
            tree = self.skills_tree
            joints = [np.real(joint) for joint in self._skills_plan.run({}, inputs).joints]
        states, probability = most_probable_states(tree, joints)
        return Profile(tuple(states[name] for name in self.bank.skills), probability)

    @cached_property
    def skills_tree(self) -> JunctionTree:
        """The junction tree over the skills alone, after all other variables are summed out."""
        near: dict[str, set[str]] = {v.name: set() for v in self.bank.hidden}
        for scope in self.scopes:
            for name in scope:
                near[name] |= set(scope) - {name}
        sizes = {v.name: v.n_states for v in self.bank.hidden}
        others = set(near) - set(self.bank.skills)
        while others:
            name = min(others, key=lambda o: (math.prod(sizes[n] for n in near[o]), o))
            others.remove(name)
            around = near.pop(name)
            for other in around:
                near[other] |= around
                near[other] -= {name, other}
        pairs = [(a, b) for a, around in near.items() for b in around if a < b]
        graph = InteractionGraph.from_scopes(
            {name: sizes[name] for name in self.bank.skills}, sorted(pairs)
        )
        tree = JunctionTree.from_order(graph, (self.order or RandomizedGreedy())(graph))
        if tree.total_size > self.max_cells:
            raise TooLargeError(
                f"the junction tree of the skills alone has {tree.total_size:,} cells; the limit"
                f" is {self.max_cells:,}",
                needed=tree.total_size,
                budget=self.max_cells,
            )
        return tree

    @cached_property
    def _skills_plan(self) -> Plan:
        return compile_plan(
            self.bank.hidden_network(),
            targets=[clique.variables for clique in self.skills_tree.cliques],
            inputs=dict(zip(self.input_names, self.scopes, strict=True)),
            limits=self._limits,
        )


def _flat(joint: Floats, shape: tuple[int, ...]) -> Floats:
    """Return joints ``(…, *shape)`` as ``(…, cells)``."""
    return joint.reshape(*joint.shape[: joint.ndim - len(shape)], math.prod(shape))


@dataclass(frozen=True, eq=False)
class TreeBelief(AnsweredBelief, Value):
    """A belief stored as the joint distribution of each clique of a junction tree.

    Created by `start`, then by `update`; each update is one run of a plan. See
    `SkillBelief`. The order of the responses does not change the result, not even by
    rounding.

    Examples
    --------
    >>> bank = ItemBank.from_qmatrix([[1, 0], [1, 1]], guess=0.2, slip=0.1)
    >>> belief = TreeBelief.start(bank).update("item_1", 1)
    >>> belief.marginal("skill_1").round(3).tolist()
    [0.182, 0.818]
    """

    tree: SkillTree
    """The junction tree of the bank, compiled."""
    answers: tuple[tuple[str, int], ...]
    """The items answered and the positions of the responses, in the order of the answers."""
    _: KW_ONLY
    likelihoods: tuple[Floats, ...]
    """For each clique the likelihood of the responses, divided by a power of two."""
    powers: tuple[int, ...]
    """The exponent of two for each clique."""
    posterior: Posterior
    """The answer of the tree's plan."""
    error_chance: float = 0.0
    """The chance that each response was an error; see `with_errors`."""

    @classmethod
    @checked
    def start(
        cls,
        bank: ItemBank,
        *,
        max_cells: int = DEFAULT_TREE_CELLS,
        order: OrderFinder | None = None,
    ) -> TreeBelief:
        """Return the belief before the first response.

        Parameters
        ----------
        bank
            The item bank.
        max_cells
            The limit of cells in all cliques together.
        order
            The method that finds an elimination order.

        Raises
        ------
        TooLargeError
            If the tree has more cells; the message says how many.
        """
        return belief_after(SkillTree(bank, max_cells, order), (), 0.0)

    def __reduce__(self) -> tuple[Any, ...]:
        return (belief_after, (self.tree, self.answers, self.error_chance))

    def __repr__(self) -> str:
        return (
            f"TreeBelief({counted(self.tree.total_size, 'cell')},"
            f" {counted(len(self.answers), 'response')})"
        )

    @property
    def bank(self) -> ItemBank:
        """The item bank."""
        return self.tree.bank

    @property
    def _index(self) -> CauseIndex:
        return self.tree.index

    @checked_if_it_fails
    def update(self, item: str, response: int | str) -> TreeBelief:
        """Return the belief after one more response; see `SkillBelief.update`."""
        number = checked_response(self.bank, self.responses, item, response)
        return self._changed((*self.answers, (item, number)), item)

    @checked
    def without(self, item: str) -> TreeBelief:
        """Return the belief as if an item had not been answered."""
        return self._changed(answers_without(self.bank, self.answers, item), item)

    @checked
    def with_errors(self, chance: float) -> TreeBelief:
        """Return the belief with another chance of errors; see `SkillBelief.with_errors`."""
        return belief_after(self.tree, self.answers, float(checked_error_chances(chance)))

    def _changed(self, answers: tuple[tuple[str, int], ...], item: str) -> TreeBelief:
        """Return the belief after other answers, which differ in one item."""
        clique = self.tree.homes[self.bank.cause_numbers[self.bank.position(item)]]
        table, power = clique_likelihood(self.tree, clique, answers, self.error_chance)
        likelihoods = (*self.likelihoods[:clique], table, *self.likelihoods[clique + 1 :])
        powers = (*self.powers[:clique], power, *self.powers[clique + 1 :])
        return _run(self.tree, answers, likelihoods, powers, self.error_chance)

    @cached_property
    def log_evidence(self) -> float:
        """Natural logarithm of the probability of all the responses."""
        return self.posterior.log_evidence + sum(self.powers) * math.log(2.0)

    @cached_property
    def _row(self) -> Floats:
        return self.tree.marginals(self._joints)

    @cached_property
    def _joints(self) -> tuple[Floats, ...]:
        return tuple(np.real(joint) for joint in self.posterior.joints)

    @cached_property
    def entropy(self) -> float:
        """The entropy of all skills jointly, in bits; other hidden variables count too."""
        return float(self.tree.entropy(self._joints, self._row))

    @checked_if_it_fails
    def marginal(self, skill: str) -> Floats:
        """Return the probability of each level of a skill, or of another hidden variable."""
        return self.tree.marginal(self._joints, skill)

    def profile(self) -> Profile:
        """Return the most probable profile of the skills.

        Ties are broken arbitrarily, but always in the same way.
        """
        return self.tree.profile(
            self._joints, dict(zip(self.tree.input_names, self.likelihoods, strict=True))
        )


def clique_likelihood(
    tree: SkillTree, clique: int, answers: Sequence[tuple[str, int]], error_chance: float
) -> tuple[Floats, int]:
    """Return the likelihood of the responses that belong to a clique.

    Returns
    -------
    tuple
        The likelihood as a table over the clique, divided by a power of two so that it does
        not underflow, and the exponent of that power.
    """
    bank = tree.bank
    table, power = np.ones(tree.shapes[clique]), 0
    columns: dict[int, Floats] = {}
    powers: dict[int, int] = {}
    # In the order of the bank, so that the order of the answers does not change the result.
    for place, response in sorted((bank.position(item), number) for item, number in answers):
        cause = int(bank.cause_numbers[place])
        if tree.homes[cause] != clique:
            continue
        column = columns.get(cause, 1.0) * likelihood(
            bank.item_channels[place], response, error_chance
        )
        shift = int(np.frexp(column.max())[1])
        columns[cause] = np.ldexp(column, -shift)
        powers[cause] = powers.get(cause, 0) + shift
    for cause, column in columns.items():
        table = table * tree.spread(cause, column)
        shift = int(np.frexp(table.max())[1])
        table, power = np.ldexp(table, -shift), power + shift + powers[cause]
    return table, power


def _run(
    tree: SkillTree,
    answers: tuple[tuple[str, int], ...],
    likelihoods: tuple[Floats, ...],
    powers: tuple[int, ...],
    error_chance: float,
) -> TreeBelief:
    try:
        posterior = tree.plan.run({}, dict(zip(tree.input_names, likelihoods, strict=True)))
    except ImpossibleEvidenceError:
        raise impossible_responses(tree.bank, dict(answers)) from None
    return TreeBelief(
        tree=tree,
        answers=answers,
        likelihoods=likelihoods,
        powers=powers,
        posterior=posterior,
        error_chance=error_chance,
    )


def belief_after(
    tree: SkillTree, answers: tuple[tuple[str, int], ...], error_chance: float
) -> TreeBelief:
    """Return the belief after some answers, each an error with the given chance."""
    pairs = [
        clique_likelihood(tree, clique, answers, error_chance) for clique in range(len(tree.scopes))
    ]
    tables, powers = tuple(t for t, _ in pairs), tuple(p for _, p in pairs)
    return _run(tree, answers, tables, powers, error_chance)


DEFAULT_JOINT_CELLS = 2**26
"""The default limit of cells in the cliques of all examinees together."""


@dataclass(frozen=True, eq=False)
class TreeBatch(AnsweredBatch, Value):
    """Beliefs stored as the joints of the cliques of a junction tree for every examinee.

    Created by `start` or `of`, then by `update`. See `BatchBelief`.
    """

    tree: SkillTree
    """The junction tree of the bank, compiled."""
    plan: Plan
    """The plan from the responses, as soft evidence, to the joint of each clique."""
    _: KW_ONLY
    joints: tuple[Floats, ...]
    """The joint of each clique, ``(examinees, *states)``."""
    log_evidence: Floats
    """``(examinees,)``, natural logarithm of the probability of the responses."""

    @classmethod
    @checked
    def start(
        cls, bank: ItemBank, n_examinees: int, *, max_cells: int = DEFAULT_JOINT_CELLS
    ) -> TreeBatch:
        """Return the beliefs before the first response.

        Parameters
        ----------
        bank
            The items.
        n_examinees
            The number of examinees, at least 0.
        max_cells
            The most cells that the trees of all examinees may have together.

        Raises
        ------
        TooLargeError
            If the tree, or all examinees' trees together, would have too many cells.
        """
        return _limited(BatchAnswers.none(bank, n_examinees), max_cells)

    @classmethod
    @checked
    def of(
        cls, bank: ItemBank, responses: ArrayLike, *, max_cells: int = DEFAULT_JOINT_CELLS
    ) -> TreeBatch:
        """Return the beliefs given responses; parameters and errors as for `TableBatch.of`.

        Parameters
        ----------
        bank
            The items.
        responses
            ``(examinees, items)``: the number of each response from 0, or `MISSING`.
        max_cells
            The most cells that the trees of all examinees may have together.
        """
        return _limited(BatchAnswers.of(bank, responses), max_cells)

    def __reduce__(self) -> tuple[Any, ...]:
        return (_after_all, (self.answers, self.tree))

    def __repr__(self) -> str:
        return (
            f"TreeBatch({counted(len(self), 'examinee')}, {counted(self.tree.total_size, 'cell')})"
        )

    @property
    def _index(self) -> CauseIndex:
        return self.tree.index

    @checked
    def update(self, items: ArrayLike, responses: ArrayLike) -> TreeBatch:
        """Return the beliefs after one more response of each; see `BatchBelief.update`."""
        pairs = self.answers.checked_pairs(items, responses)
        return _run_batch(self.answers.after(*pairs), self.tree, self.plan)

    @checked
    def with_errors(self, chances: ArrayLike) -> TreeBatch:
        """Return the beliefs with other chances of errors; see `BatchBelief.with_errors`."""
        return _run_batch(self.answers.with_errors(chances), self.tree, self.plan)

    @checked
    def take(self, examinees: ArrayLike) -> TreeBatch:
        """Return the beliefs about some of the examinees, by position or by a mask."""
        rows = positions(examinees, len(self), "examinees")
        return replace(
            self,
            answers=self.answers.take(rows),
            joints=tuple(sealed(joint[rows]) for joint in self.joints),
            log_evidence=sealed(self.log_evidence[rows]),
        )

    @checked
    def alone(self, examinee: int) -> TreeBelief:
        """Return the belief about one examinee, by position; it takes a run of the tree."""
        return belief_after(self.tree, *self.answers.alone(examinee))

    @cached_property
    def _row(self) -> Floats:
        return self.tree.marginals(self.joints)

    @cached_property
    def entropy(self) -> Floats:
        """The entropy of all skills jointly, in bits, ``(examinees,)``."""
        return sealed(self.tree.entropy(self.joints, self._row))

    @checked_if_it_fails
    def marginal(self, skill: str) -> Floats:
        """Return the probability of each level of a skill, ``(examinees, levels)``."""
        return self.tree.marginal(self.joints, skill)

    def profile(self) -> BatchProfiles:
        """Return each examinee's most probable profile, one examinee after the other."""
        profiles = []
        for examinee in range(len(self)):
            likelihoods = {}
            if len(self.bank.hidden) > len(self.bank.skills):
                answers, chance = self.answers.alone(examinee)
                likelihoods = {
                    name: clique_likelihood(self.tree, clique, answers, chance)[0]
                    for clique, name in enumerate(self.tree.input_names)
                }
            joints = [joint[examinee] for joint in self.joints]
            profiles.append(self.tree.profile(joints, likelihoods))
        levels = np.array([profile.levels for profile in profiles], dtype=np.intp)
        return BatchProfiles(
            levels.reshape(len(profiles), len(self.bank.skills)),
            np.array([profile.probability for profile in profiles]),
        )


def _limited(answers: BatchAnswers, max_cells: int) -> TreeBatch:
    """Return the beliefs given all answers, unless their tables would be too large."""
    tree = SkillTree(answers.bank, min(max_cells, DEFAULT_TREE_CELLS))
    needed = len(answers) * tree.total_size
    if needed > max_cells:
        raise TooLargeError(
            f"the trees of {len(answers):,} examinees would have {needed:,} cells together; the"
            f" limit is {max_cells:,}: take the examinees in parts",
            needed=needed,
            budget=max_cells,
        )
    return _after_all(answers, tree)


def _after_all(answers: BatchAnswers, tree: SkillTree) -> TreeBatch:
    bank = tree.bank
    items = tuple(bank.network.cpd(name) for name in bank.item_names)
    plan = compile_plan(
        Network((*bank.hidden_network().cpds, *items)),
        soft=bank.item_names,
        targets=tree.scopes,
    )
    return _run_batch(answers, tree, plan)


def _run_batch(answers: BatchAnswers, tree: SkillTree, plan: Plan) -> TreeBatch:
    bank, responses = answers.bank, answers.responses
    # Items without responses can be left out, but one item is needed for the size of the batch.
    answered = np.any(responses != MISSING, axis=0)
    answered[0] = True
    cases = {
        bank.item_names[i]: _evidence(answers, int(i)) for i in np.flatnonzero(answered).tolist()
    }
    try:
        posterior = plan.run_batch(cases)
    except ImpossibleEvidenceError:
        rows = np.flatnonzero(answers.error_chances == 0).tolist()
        wrong = [i for i in rows if not _is_possible(plan, bank, responses[i])]
        raise impossible_rows(bank, responses, wrong) from None
    return TreeBatch(
        answers, tree, plan, joints=posterior.joints, log_evidence=posterior.log_evidence
    )


def _evidence(answers: BatchAnswers, item: int) -> Responses | Floats:
    """Return the responses to an item, or their likelihoods if some may be errors."""
    codes, chances = answers.responses[:, item], answers.error_chances
    if not chances.any():
        return codes
    n_responses = len(answers.bank.responses(answers.bank.item_names[item]))
    is_given = codes[:, None] == np.arange(n_responses)
    weights = (1 - chances[:, None]) * is_given + chances[:, None] / n_responses
    return np.where(codes[:, None] == MISSING, 1.0, weights)


def _is_possible(plan: Plan, bank: ItemBank, row: Responses) -> bool:
    pairs = zip(bank.item_names, row.tolist(), strict=True)
    return plan.is_possible({name: bank.responses(name)[r] for name, r in pairs if r != MISSING})
