"""Beliefs as tables over all profiles, updated by Bayes' rule, of one examinee and of many.

Many small marginals of one large table are summed by `SubsetSums`, whose sums share their work. A
table is first summed to a few tables that together cover all requested sets, and these are summed
in the same way. A small table is multiplied by a matrix of zeros and ones that gives all its sets
at once. Nothing is subtracted, so small probabilities keep their digits. The sums are planned
once, and apply to tables with further axes in front.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bnmind._arguments import checked, checked_if_it_fails, positions
from bnmind._messages import counted
from bnmind._values import ReadOnlyDict, Sealed, Value, made, sealed
from bnmind.adaptive.beliefs.belief import (
    MISSING,
    AnsweredBatch,
    AnsweredBelief,
    BatchAnswers,
    BatchProfiles,
    CauseIndex,
    Profile,
    answers_without,
    checked_error_chances,
    checked_response,
    impossible_responses,
    impossible_rows,
    likelihood,
)
from bnmind.adaptive.items.bank import ItemBank
from bnmind.errors import TooLargeError, UnknownNameError
from bnmind.information import Floats, tied_best, unchecked_entropy

_SMALL = 256
"""Tables of at most this many cells are summed by a matrix."""

_GROUPS = 4
"""The axes of a large table are split into this many groups; each sum leaves out one."""

_Step: TypeAlias = tuple[int, tuple[int, ...], tuple[int, ...]]
"""The number of a table, the shape to view it in, and the axes to sum, counted from the end."""


@dataclass(frozen=True, eq=False, kw_only=True)
class SubsetSums(Sealed):
    """A plan to sum a table to several marginals.

    Created by `compile`; ``sums(table)`` returns all marginals end to end, and set i begins
    at ``starts[i]``.
    """

    shape: tuple[int, ...]
    """The sizes of the table's axes."""
    starts: tuple[int, ...]
    """The place of each set's marginal in the result."""
    sizes: tuple[int, ...]
    """The number of cells of each set's marginal."""
    steps: tuple[_Step, ...] = field(repr=False)
    parts: tuple[tuple[int, Floats | None], ...] = field(repr=False)
    """The tables that the result consists of, each with a matrix to multiply by, or None."""

    @classmethod
    def compile(cls, shape: Sequence[int], sets: Sequence[Sequence[int]]) -> SubsetSums:
        """Return the sums for tables of a shape.

        Parameters
        ----------
        shape
            The number of states along each axis.
        sets
            The axes of each marginal, ascending.
        """
        work = _Work(tuple(shape))
        work.cover(0, tuple(range(len(shape))), {i: tuple(s) for i, s in enumerate(sets)})
        starts = tuple(work.starts[i] for i in range(len(sets)))
        sizes = tuple(work.cells(s) for s in sets)
        return cls(
            shape=work.shape,
            starts=starts,
            sizes=sizes,
            steps=tuple(work.steps),
            parts=tuple(work.parts),
        )

    @property
    def n_cells(self) -> int:
        """The number of cells of all marginals together."""
        return sum(self.sizes)

    def __call__(self, table: Floats) -> Floats:
        """Return all the marginals end to end, ``(…, n_cells)``, of a table ``(…, cells)``."""
        front = table.shape[:-1]
        tables: list[Any] = [table]
        for source, view, axes in self.steps:
            summed = np.add.reduce(tables[source].reshape(*front, *view), axis=axes)
            tables.append(summed.reshape(*front, math.prod(summed.shape[len(front) :])))
        marginals = [
            tables[source] if matrix is None else tables[source] @ matrix
            for source, matrix in self.parts
        ]
        return marginals[0] if len(marginals) == 1 else np.concatenate(marginals, axis=-1)


class _Work:
    """The sums planned so far."""

    def __init__(self, shape: tuple[int, ...]) -> None:
        self.shape = shape
        self.steps: list[_Step] = []
        self.parts: list[tuple[int, Floats | None]] = []
        self.starts: dict[int, int] = {}
        self.end = 0

    def cells(self, axes: Sequence[int]) -> int:
        return math.prod(self.shape[a] for a in axes)

    def add(self, source: int, matrix: Floats | None, sets: dict[int, tuple[int, ...]]) -> None:
        self.parts.append((source, matrix))
        for number, axes in sets.items():
            self.starts[number] = self.end
            self.end += self.cells(axes)

    def summed(self, source: int, axes: tuple[int, ...], remaining: Sequence[int]) -> int:
        """Plan the sum of a table to some axes; return the number of the new table."""
        if len(remaining) == len(axes):
            return source
        view: list[int] = []
        is_summed: list[bool] = []
        for axis in axes:
            drop = axis not in remaining
            if is_summed and is_summed[-1] == drop:  # merge with the axis before
                view[-1] *= self.shape[axis]
            else:
                view.append(self.shape[axis])
                is_summed.append(drop)
        over = tuple(i - len(view) for i, drop in enumerate(is_summed) if drop)
        self.steps.append((source, tuple(view), over))
        return len(self.steps)

    def cover(self, source: int, axes: tuple[int, ...], sets: dict[int, tuple[int, ...]]) -> None:
        """Plan the marginals on these sets of axes of a table."""
        if not sets:
            return
        if self.cells(axes) <= _SMALL and len(sets) > 1:
            self.add(source, self.indicator(axes, tuple(sets.values())), sets)
            return
        groups = self.groups(axes)
        alone: dict[int, tuple[int, ...]] = {}
        without: list[dict[int, tuple[int, ...]]] = [{} for _ in groups]
        for number, marginal in sets.items():
            free = [i for i, group in enumerate(groups) if not set(group) & set(marginal)]
            (without[free[0]] if free and len(groups) > 1 else alone)[number] = marginal
        for group, inside in zip(groups, without, strict=True):
            if len(inside) < 2:
                alone |= inside
                continue
            remaining = tuple(a for a in axes if a not in group)
            self.cover(self.summed(source, axes, remaining), remaining, inside)
        for number, marginal in alone.items():
            self.add(self.summed(source, axes, marginal), None, {number: marginal})

    def groups(self, axes: tuple[int, ...]) -> list[tuple[int, ...]]:
        """Return the axes in a few groups of about equal size."""
        share = math.log(max(self.cells(axes), 2)) / min(_GROUPS, len(axes))
        runs: list[list[int]] = [[]]
        so_far = 0.0
        for axis in axes:
            if runs[-1] and so_far >= share * len(runs) - 1e-9:
                runs.append([])
            runs[-1].append(axis)
            so_far += math.log(self.shape[axis])
        return [tuple(group) for group in runs]

    def indicator(self, axes: tuple[int, ...], sets: Sequence[tuple[int, ...]]) -> Floats:
        """Return the matrix ``(cells, cells of all the sets)`` that sums a small table."""
        states = np.indices(tuple(self.shape[a] for a in axes)).reshape(len(axes), -1)
        columns = []
        for marginal in sets:
            at = [states[axes.index(a)] for a in marginal]
            flat = np.ravel_multi_index(at, tuple(self.shape[a] for a in marginal))
            columns.append(flat[:, None] == np.arange(self.cells(marginal)))
        return np.concatenate(columns, axis=1).astype(np.float64)


DEFAULT_PROFILES = 2**22
"""The default limit of profiles in a table."""


def n_profiles(bank: ItemBank) -> int:
    """Return the number of configurations of all hidden variables of a bank."""
    return math.prod(v.n_states for v in bank.hidden)


@dataclass(frozen=True, eq=False)
class ProfileSpace:
    """The layout of tables over the profiles of a bank; further axes of a table come first.

    Parameters
    ----------
    bank
        The item bank.
    max_profiles
        The limit of configurations of the hidden variables.

    Raises
    ------
    TooLargeError
        If there are more. No table is allocated.
    """

    bank: ItemBank
    max_profiles: int = DEFAULT_PROFILES

    def __post_init__(self) -> None:
        if (needed := n_profiles(self.bank)) > (budget := self.max_profiles):
            told = f"the {len(self.bank.hidden)} hidden variables have {needed:,} profiles"
            limit = f"the limit of a table is {budget:,}: use a belief by a junction tree"
            raise TooLargeError(f"{told}; {limit}", needed=needed, budget=budget)

    def __reduce__(self) -> tuple[Any, ...]:
        return (ProfileSpace, (self.bank, self.max_profiles))

    @cached_property
    def shape(self) -> tuple[int, ...]:
        """The number of states of each hidden variable: the skills, then the others."""
        return tuple(v.n_states for v in self.bank.hidden)

    @cached_property
    def place(self) -> Mapping[str, int]:
        """The axis of each hidden variable."""
        return ReadOnlyDict({v.name: axis for axis, v in enumerate(self.bank.hidden)})

    @cached_property
    def prior(self) -> Floats:
        """The probability of every profile before any response, ``(profiles,)``."""
        table = np.ones(self.shape)
        for cpd in self.bank.hidden_network().cpds:
            factor = cpd.to_factor()
            names = sorted(factor.names, key=self.place.__getitem__)
            values = np.real(factor.transpose(names).values)
            wide = [1] * len(self.shape)
            for name, size in zip(names, values.shape, strict=True):
                wide[self.place[name]] = size
            table = table * values.reshape(wide)
        flat: Floats = table.reshape(-1)
        flat = flat / flat.sum()
        flat.setflags(write=False)
        return flat

    @cached_property
    def sums(self) -> SubsetSums:
        """The sums of a table to the masses of all parent configurations."""
        return SubsetSums.compile(
            self.shape, [[self.place[name] for name in cause] for cause in self.bank.causes]
        )

    @cached_property
    def index(self) -> CauseIndex:
        """The places of each item's masses in the sums."""
        return CauseIndex.of(self.bank, self.sums.starts)

    @cached_property
    def views(self) -> tuple[tuple[tuple[int, ...], tuple[int, ...]], ...]:
        """For each cause the shape to view a table in, and that of a factor to multiply by."""
        shapes = []
        for cause in self.bank.causes:
            axes = {self.place[name] for name in cause}
            view: list[int] = []
            factor: list[int] = []
            merges = False
            for axis, size in enumerate(self.shape):
                if axis not in axes and merges:
                    view[-1] *= size
                    continue
                merges = axis not in axes
                view.append(size)
                factor.append(1 if merges else size)
            shapes.append((tuple(view), tuple(factor)))
        return tuple(shapes)

    def likely(self, table: Floats, item: int, response: int, error_chance: float = 0.0) -> Floats:
        """Return a table ``(…, profiles)`` times the likelihood of a response to an item."""
        view, factor = self.views[self.bank.cause_numbers[item]]
        column = likelihood(self.bank.item_channels[item], response, error_chance)
        front = table.shape[:-1]
        product: Floats = (table.reshape(*front, *view) * column.reshape(factor)).reshape(
            table.shape
        )
        return product

    def marginal(self, table: Floats, name: str) -> Floats:
        """Return the distribution of a hidden variable, ``(…, states)``."""
        if name not in self.place:
            raise UnknownNameError("skill", name, self.place)
        axis = self.place[name]
        before, after = math.prod(self.shape[:axis]), math.prod(self.shape[axis + 1 :])
        view = table.reshape(*table.shape[:-1], before, self.shape[axis], after)
        summed: Floats = view.sum(axis=(-3, -1))
        return summed

    def skills(self, table: Floats) -> Floats:
        """Return the distribution over the profiles of the skills alone, ``(…, profiles)``."""
        n = math.prod(self.shape[: len(self.bank.skills)])
        if n == table.shape[-1]:
            return table
        summed: Floats = table.reshape(*table.shape[:-1], n, table.shape[-1] // n).sum(axis=-1)
        return summed


_TIE = 1e-12
"""Probabilities of profiles closer than this, relative to the largest, count as equal."""


@dataclass(frozen=True, eq=False)
class TableBelief(AnsweredBelief, Value):
    """A belief stored as the probability of every profile, for banks with few skills.

    Created by `start`, then by `update`. See `SkillBelief`.

    Examples
    --------
    >>> bank = ItemBank.from_qmatrix([[1, 0], [1, 1]], guess=0.2, slip=0.1)
    >>> belief = TableBelief.start(bank).update("item_1", 1)
    >>> belief.marginal("skill_1").round(3).tolist()
    [0.182, 0.818]
    """

    space: ProfileSpace
    """The profiles of the bank."""
    answers: tuple[tuple[str, int], ...]
    """The items answered and the positions of the responses, in the order of the answers."""
    table: Floats
    """The probability of every profile, ``(profiles,)``, read-only."""
    log_evidence: float
    """Natural logarithm of the probability of all the responses."""
    _: KW_ONLY
    error_chance: float = 0.0
    """The chance that each response was an error; see `with_errors`."""

    @classmethod
    @checked
    def start(cls, bank: ItemBank, *, max_profiles: int = DEFAULT_PROFILES) -> TableBelief:
        """Return the belief before the first response.

        Parameters
        ----------
        bank
            The items.
        max_profiles
            The most profiles that the table may have.

        Raises
        ------
        TooLargeError
            If the bank has more profiles than ``max_profiles``.
        """
        space = ProfileSpace(bank, max_profiles)
        return cls(space=space, answers=(), table=space.prior, log_evidence=0.0)

    def __reduce__(self) -> tuple[Any, ...]:
        return (_again, (self.space, self.answers, self.error_chance))

    def __repr__(self) -> str:
        return (
            f"TableBelief({counted(len(self.table), 'profile')},"
            f" {counted(len(self.answers), 'response')})"
        )

    @property
    def bank(self) -> ItemBank:
        """The item bank."""
        return self.space.bank

    @property
    def _index(self) -> CauseIndex:
        return self.space.index

    @checked_if_it_fails
    def update(self, item: str, response: int | str) -> TableBelief:
        """Return the belief after one more response; see `SkillBelief.update`."""
        bank = self.space.bank
        number = checked_response(bank, dict(self.answers), item, response)
        place = bank.position(item)
        table = self.space.likely(self.table, place, number, self.error_chance)
        # The bank's own name, so that the answers are valid without another check.
        answers = (*self.answers, (bank.item_names[place], number))
        total = float(np.add.reduce(table))
        if not total > 0:
            raise impossible_responses(bank, dict(answers))
        table /= total
        return made(
            TableBelief,
            space=self.space,
            answers=answers,
            table=sealed(table),
            log_evidence=self.log_evidence + math.log(total),
            error_chance=self.error_chance,
        )

    @checked
    def without(self, item: str) -> TableBelief:
        """Return the belief as if an item had not been answered."""
        remaining = answers_without(self.bank, self.answers, item)
        return _again(self.space, remaining, self.error_chance)

    @checked
    def with_errors(self, chance: float) -> TableBelief:
        """Return the belief with another chance of errors; see `SkillBelief.with_errors`."""
        return _again(self.space, self.answers, float(checked_error_chances(chance)))

    @checked_if_it_fails
    def marginal(self, skill: str) -> Floats:
        """Return the probability of each level of a skill, or of another hidden variable."""
        return self.space.marginal(self.table, skill)

    @cached_property
    def entropy(self) -> float:
        """The entropy of all skills jointly, in bits; other hidden variables count too."""
        return float(unchecked_entropy(self.table))

    def profile(self) -> Profile:
        """Return the most probable profile of the skills; the lowest of equal ones."""
        table = self.space.skills(self.table)
        best = int(tied_best(table, tolerance=_TIE * float(table.max()))[0])
        levels = np.unravel_index(best, self.space.shape[: len(self.bank.skills)])
        return Profile(tuple(int(level) for level in levels), float(table[best]))

    @cached_property
    def _row(self) -> Floats:
        return self.space.sums(self.table)


def _again(
    space: ProfileSpace, answers: tuple[tuple[str, int], ...], error_chance: float
) -> TableBelief:
    belief = TableBelief(
        space=space, answers=(), table=space.prior, log_evidence=0.0, error_chance=error_chance
    )
    for item, number in answers:
        belief = belief.update(item, number)
    return belief


DEFAULT_BATCH_CELLS = 2**26
"""The default limit of cells in a table of examinees by profiles."""


@dataclass(frozen=True, eq=False)
class TableBatch(AnsweredBatch, Value):
    """Beliefs stored as the probability of every profile for every examinee.

    Created by `start` or `of`, then by `update`. See `BatchBelief`.

    Examples
    --------
    >>> bank = ItemBank.from_qmatrix([[1, 0], [1, 1]], guess=0.2, slip=0.1)
    >>> batch = TableBatch.of(bank, [[1, -1], [0, -1], [-1, -1]])
    >>> batch.marginal("skill_1").round(3).tolist()
    [[0.182, 0.818], [0.889, 0.111], [0.5, 0.5]]
    """

    space: ProfileSpace
    """The profiles of the bank."""
    table: Floats
    """``(examinees, profiles)``, the rows summing to one; read-only."""
    log_evidence: Floats
    """``(examinees,)``, natural logarithm of the probability of the responses."""

    @classmethod
    @checked
    def start(
        cls, bank: ItemBank, n_examinees: int, *, max_cells: int = DEFAULT_BATCH_CELLS
    ) -> TableBatch:
        """Return the beliefs before the first response.

        Parameters
        ----------
        bank
            The items.
        n_examinees
            The number of examinees, at least 0.
        max_cells
            The most cells, examinees times profiles, that the tables may have.

        Raises
        ------
        TooLargeError
            If examinees times profiles are more than ``max_cells``.
        """
        return _limited(BatchAnswers.none(bank, n_examinees), max_cells)

    @classmethod
    @checked
    def of(
        cls, bank: ItemBank, responses: ArrayLike, *, max_cells: int = DEFAULT_BATCH_CELLS
    ) -> TableBatch:
        """Return the beliefs given responses ``(examinees, items)``; `MISSING` where none.

        Parameters
        ----------
        bank
            The items.
        responses
            ``(examinees, items)``: the number of each response from 0, or `MISSING`.
        max_cells
            The most cells, examinees times profiles, that the tables may have.

        Raises
        ------
        InvalidArgumentError
            If a response is out of range; the message names row and item.
        ImpossibleEvidenceError
            If an examinee's responses have probability zero.
        TooLargeError
            If examinees times profiles are more than ``max_cells``.
        """
        return _limited(BatchAnswers.of(bank, responses), max_cells)

    def __reduce__(self) -> tuple[Any, ...]:
        return (_after_all, (self.answers, self.space))

    def __repr__(self) -> str:
        return (
            f"TableBatch({counted(len(self), 'examinee')},"
            f" {counted(self.table.shape[1], 'profile')})"
        )

    @property
    def _index(self) -> CauseIndex:
        return self.space.index

    @checked
    def update(self, items: ArrayLike, responses: ArrayLike) -> TableBatch:
        """Return the beliefs after one more response of each; see `BatchBelief.update`."""
        asked, numbers = self.answers.checked_pairs(items, responses)
        answers = self.answers.after(asked, numbers)
        table = self.table.copy()
        for item in np.unique(asked[asked != MISSING]).tolist():
            _multiply(self.space, table, item, np.where(asked == item, numbers, MISSING), answers)
        return _made(answers, self.space, *_scaled(answers, table, self.log_evidence))

    @checked
    def with_errors(self, chances: ArrayLike) -> TableBatch:
        """Return the beliefs with other chances of errors; see `BatchBelief.with_errors`."""
        answers = self.answers.with_errors(chances)
        rows = np.flatnonzero(answers.error_chances != self.error_chances)
        if not len(rows):
            return self
        changed = _after_all(answers.take(rows), self.space)
        table, log_evidence = self.table.copy(), self.log_evidence.copy()
        table[rows], log_evidence[rows] = changed.table, changed.log_evidence
        return _made(answers, self.space, table, log_evidence)

    @checked
    def take(self, examinees: ArrayLike) -> TableBatch:
        """Return the beliefs about some of the examinees, by position or by a mask."""
        rows = positions(examinees, len(self), "examinees")
        answers = self.answers.take(rows)
        return _made(answers, self.space, self.table[rows], self.log_evidence[rows])

    @checked
    def alone(self, examinee: int) -> TableBelief:
        """Return the belief about one examinee, by position."""
        answers, chance = self.answers.alone(examinee)
        evidence = float(self.log_evidence[examinee])
        return TableBelief(
            space=self.space,
            answers=answers,
            table=self.table[examinee],
            log_evidence=evidence,
            error_chance=chance,
        )

    @checked_if_it_fails
    def marginal(self, skill: str) -> Floats:
        """Return the probability of each level of a skill, ``(examinees, levels)``."""
        return self.space.marginal(self.table, skill)

    @cached_property
    def entropy(self) -> Floats:
        """The entropy of all skills jointly, in bits, ``(examinees,)``."""
        return sealed(unchecked_entropy(self.table))

    def profile(self) -> BatchProfiles:
        """Return each examinee's most probable profile; the lowest of equal ones."""
        table = self.space.skills(self.table)
        largest = table.max(axis=1, keepdims=True)
        best = np.argmax(table >= largest * (1 - _TIE), axis=1)
        levels = np.unravel_index(best, self.space.shape[: len(self.bank.skills)])
        return BatchProfiles(np.stack(levels, axis=1), table[np.arange(len(table)), best])

    @cached_property
    def _row(self) -> Floats:
        return self.space.sums(self.table)


def _limited(answers: BatchAnswers, max_cells: int) -> TableBatch:
    """Return the beliefs given all answers, unless their table would be too large."""
    space = ProfileSpace(answers.bank, max(DEFAULT_PROFILES, max_cells))
    needed = len(answers) * int(np.prod(space.shape))
    if needed > max_cells:
        raise TooLargeError(
            f"the table of {len(answers):,} examinees by profiles would have {needed:,} cells;"
            f" the limit is {max_cells:,}: take the examinees in parts",
            needed=needed,
            budget=max_cells,
        )
    return _after_all(answers, space)


def _after_all(answers: BatchAnswers, space: ProfileSpace) -> TableBatch:
    """Return the beliefs given all answers, by one item after the other."""
    table = np.repeat(space.prior[None, :], len(answers), axis=0)
    log_evidence = np.zeros(len(answers))
    for item in range(answers.responses.shape[1]):
        _multiply(space, table, item, answers.responses[:, item].astype(np.intp), answers)
        # Now and then, so that no row underflows.
        if item % 16 == 15:
            table, log_evidence = _scaled(answers, table, log_evidence)
    return _made(answers, space, *_scaled(answers, table, log_evidence))


def _made(
    answers: BatchAnswers, space: ProfileSpace, table: Floats, log_evidence: Floats
) -> TableBatch:
    """Return the beliefs with new arrays, which are sealed and need not be copied."""
    return TableBatch(answers, space, sealed(table), sealed(log_evidence))


def _multiply(
    space: ProfileSpace,
    table: Floats,
    item: int,
    responses: NDArray[np.intp],
    answers: BatchAnswers,
) -> None:
    """Multiply the likelihood of responses ``(examinees,)`` to an item into a table."""
    chances = answers.error_chances
    is_given = responses != MISSING
    pairs = zip(responses[is_given].tolist(), chances[is_given].tolist(), strict=True)
    for response, chance in sorted(set(pairs)):
        rows = np.flatnonzero((responses == response) & (chances == chance))
        table[rows] = space.likely(table[rows], item, response, chance)


def _scaled(answers: BatchAnswers, table: Floats, log_evidence: Floats) -> tuple[Floats, Floats]:
    """Return the table with rows summing to one, and the evidence with their sums."""
    totals = table.sum(axis=1)
    wrong = np.flatnonzero(~(totals > 0))
    if wrong.size:
        raise impossible_rows(answers.bank, answers.responses, wrong.tolist())
    return table / totals[:, None], log_evidence + np.log(totals)
