"""Examinees with true profiles, drawn or recorded, and folds of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING, Annotated

import numpy as np
from annotated_types import Ge
from numpy.typing import ArrayLike, NDArray

from bnmind._arguments import checked, positions, whole_array
from bnmind._messages import counted, many
from bnmind._values import Value
from bnmind.adaptive.beliefs.belief import MISSING, checked_responses
from bnmind.adaptive.beliefs.belief import Responses as ResponseCodes
from bnmind.adaptive.items.bank import HasBank, ItemBank, bank_of
from bnmind.adaptive.responses.responses import Responses, responses_to
from bnmind.errors import InvalidArgumentError, InvalidModelError, TooLargeError, UnknownNameError
from bnmind.information import Floats
from bnmind.pgm import Variable

if TYPE_CHECKING:
    import pandas

MAX_NUMBERS = 2**27
"""The limit of random numbers drawn in advance for examinees: a gigabyte."""

Levels = NDArray[np.intp]
"""``(examinees, skills)`` positions of levels; `MISSING` where unknown."""


@dataclass(frozen=True, eq=False)
class Examinees(Value):
    """Examinees, with their answers to every item and their true skills.

    Created by `drawn` from a model, by `with_profiles` for given profiles, or by
    `recorded` from real answers. All answers are drawn in advance, so that every selector
    meets the same examinees and answers.

    Parameters
    ----------
    items
        The items.
    responses
        ``(examinees, items)`` positions of responses. An item whose response is `MISSING`
        is never asked of that examinee.
    skills
        The variables of the skills whose true levels are known; may be empty.
    levels
        ``(examinees, skills)``, the true levels; `MISSING` where unknown.
    numbers
        ``(examinees,)`` distinct numbers of at least 0, which determine the random numbers
        of selectors that draw. `take` preserves them.

    Raises
    ------
    InvalidArgumentError
        If shapes do not fit, or levels are out of range.

    Examples
    --------
    >>> bank = ItemBank.from_qmatrix([[1, 0], [1, 1]], guess=0.2, slip=0.1)
    >>> examinees = Examinees.drawn(bank, 1000, seed=1)
    >>> examinees
    Examinees(1000, 2 items, 2 skills known)
    """

    items: tuple[str, ...]
    responses: Annotated[ResponseCodes, Ge(MISSING)]
    skills: tuple[Variable, ...]
    levels: Annotated[Levels, Ge(MISSING)]
    _: KW_ONLY
    numbers: Annotated[NDArray[np.intp], Ge(0)]

    def _faults(self) -> Iterator[str]:
        n, m, shape = len(self.items), len(self.skills), self.responses.shape
        if len(shape) != 2 or shape[1] != n or not shape[0]:
            yield f"expected responses of one or more examinees to {n} items, got shape {shape}"
            return
        if self.levels.shape != (shape[0], m):
            yield f"expected levels of shape {(shape[0], m)}, got {self.levels.shape}"
        else:
            for skill, most in zip(self.skills, self.levels.max(axis=0), strict=True):
                if most >= skill.n_states:
                    yield f"expected levels of {skill.name} below {skill.n_states}, got {most}"
        if self.numbers.shape != shape[:1]:
            yield f"expected {shape[0]} numbers of examinees, got shape {self.numbers.shape}"
        elif len(np.unique(self.numbers)) < shape[0]:
            yield "the numbers of examinees must be distinct"

    @classmethod
    @checked
    def drawn(cls, model: ItemBank | HasBank, n_examinees: int, *, seed: int = 0) -> Examinees:
        """Return examinees with profiles and answers drawn from a model.

        Each examinee has a generator of its own, spawned from the seed, so an examinee does
        not depend on the number of examinees.

        Parameters
        ----------
        model
            The bank that determines the answers, or what `learn` returns. The bank of the test
            may differ.
        n_examinees
            The number of examinees, at least 1.
        seed
            At least 0; the same seed always draws the same examinees.

        Raises
        ------
        InvalidArgumentError
            If ``n_examinees`` is below 1, or the seed is negative.
        TooLargeError
            If they need more than `MAX_NUMBERS` random numbers.
        """
        if not n_examinees >= 1:
            raise InvalidArgumentError(
                f"expected at least 1 examinee, got {n_examinees}", n_examinees
            )
        model = bank_of(model)
        luck = _luck(model, n_examinees, seed)
        return cls._answering(model, _hidden(model, luck), luck)

    @classmethod
    @checked
    def with_profiles(cls, model: ItemBank, levels: ArrayLike, *, seed: int = 0) -> Examinees:
        """Return examinees with given profiles, and answers drawn from a model.

        Parameters
        ----------
        model
            The bank that determines the answers; all its hidden variables must be skills.
        levels
            ``(examinees, skills)`` positions of the levels of the model's skills.
        seed
            At least 0; the same seed always draws the same answers.

        Raises
        ------
        InvalidModelError
            If a hidden variable of the model is no skill.
        InvalidArgumentError
            If the profiles are not levels of the skills, ``(examinees, skills)``.
        """
        profiles = whole_array(levels, "levels")
        skills = [model.variable(name) for name in model.skills]
        if len(model.hidden) > len(skills):
            raise InvalidModelError(
                [f"all hidden variables must be skills; {model.hidden[-1].name} is not"]
            )
        fits = (
            profiles.ndim == 2 and profiles.shape[1] == len(skills) and profiles.dtype.kind in "iu"
        )
        if not fits or not np.all((profiles >= 0) & (profiles < [v.n_states for v in skills])):
            raise InvalidArgumentError(
                f"expected levels of the skills, of shape (examinees, {len(skills)}),"
                f" got an array of shape {profiles.shape} of {profiles.dtype}",
                profiles.dtype,
            )
        columns = {v.name: column for v, column in zip(skills, profiles.T, strict=True)}
        return cls._answering(model, columns, _luck(model, len(profiles), seed))

    @classmethod
    @checked
    def recorded(
        cls, bank: ItemBank | HasBank, responses: Responses | pandas.DataFrame | ArrayLike
    ) -> Examinees:
        """Return examinees with real answers and unknown skills.

        Parameters
        ----------
        bank
            The bank that names the items, or what `learn` returns.
        responses
            The responses, or a data frame of them; or an array ``(examinees, items)`` of
            positions of responses in the order of the bank's items, −1 for a missing one.

        Raises
        ------
        TableError
            If a response is out of range, an item is unknown or missing, or an examinee has no
            response at all. All faults are reported at once, with rows and columns.
        """
        bank = bank_of(bank)
        codes = responses_to(bank, responses).for_bank(bank).codes.astype(np.int16)
        n = len(codes)
        return cls(
            items=bank.item_names,
            responses=codes,
            skills=(),
            levels=np.empty((n, 0), dtype=np.intp),
            numbers=np.arange(n),
        )

    @classmethod
    def _answering(cls, model: ItemBank, hidden: dict[str, Levels], luck: Floats) -> Examinees:
        responses = np.empty((len(luck), len(model.items)), dtype=np.int16)
        own = luck[:, len(model.hidden) :]
        for number, name in enumerate(model.item_names):
            rows = _configurations(model, model.cause(name), hidden)
            responses[:, number] = _draw(model.channel(name), rows, own[:, number])
        skills = tuple(model.variable(name) for name in model.skills)
        levels = np.stack([hidden[name] for name in model.skills], axis=1)
        return cls(
            items=model.item_names,
            responses=responses,
            skills=skills,
            levels=levels,
            numbers=np.arange(len(luck)),
        )

    def __repr__(self) -> str:
        known = f", {counted(len(self.skills), 'skill')} known" if self.skills else ""
        return f"Examinees({len(self)}, {counted(len(self.items), 'item')}{known})"

    def __len__(self) -> int:
        return len(self.responses)

    @checked
    def take(self, examinees: ArrayLike) -> Examinees:
        """Return some of the examinees, by position or by a mask.

        Parameters
        ----------
        examinees
            Positions of examinees, or a mask ``(examinees,)``.
        """
        rows = positions(examinees, len(self), "examinees")
        return Examinees(
            items=self.items,
            responses=self.responses[rows],
            skills=self.skills,
            levels=self.levels[rows],
            numbers=self.numbers[rows],
        )

    @checked
    def responses_to(self, bank: ItemBank) -> ResponseCodes:
        """Return the answers to a bank's items, ``(examinees, items)``.

        Parameters
        ----------
        bank
            The item bank.

        Raises
        ------
        UnknownNameError
            If there are no answers to one of the items.
        InvalidArgumentError
            If an item has no such response; the message names row and item.
        """
        place = {name: number for number, name in enumerate(self.items)}
        for name in bank.item_names:
            if name not in place:
                raise UnknownNameError("item with responses", name, self.items)
        return checked_responses(bank, self.responses[:, [place[name] for name in bank.item_names]])

    @checked
    def levels_in(self, bank: ItemBank) -> Levels:
        """Return the true levels of a bank's skills, ``(examinees, skills)``.

        `MISSING` for a skill that is unknown, or has other levels than the bank's.

        Parameters
        ----------
        bank
            The item bank.
        """
        known = {v.name: column for v, column in zip(self.skills, self.levels.T, strict=True)}
        states = {v.name: v.states for v in self.skills}
        levels = np.full((len(self), len(bank.skills)), MISSING, dtype=np.intp)
        for number, name in enumerate(bank.skills):
            if name in known and states[name] == bank.variable(name).states:
                levels[:, number] = known[name]
        return levels

    @checked
    def abilities_in(self, bank: ItemBank) -> Floats:
        """Return the true abilities, ``(examinees,)``; NaN if unknown.

        The points of the grid may differ from those of the bank.

        Parameters
        ----------
        bank
            The item bank.
        """
        unknown = np.full(len(self), np.nan)
        for variable, column in zip(self.skills, self.levels.T, strict=True):
            if len(bank.skills) == 1 and variable.name == bank.skills[0]:
                try:
                    points = np.array([float(state) for state in variable.states])
                except ValueError:
                    return unknown
                return np.where(column == MISSING, np.nan, points[column])
        return unknown


def _luck(model: ItemBank, n_examinees: int, seed: int) -> Floats:
    """Return a random number for each hidden variable and item, ``(examinees, numbers)``."""
    if not seed >= 0:
        raise InvalidArgumentError(f"expected a seed of at least 0, got {seed}", seed)
    width = len(model.hidden) + len(model.items)
    if n_examinees * width > MAX_NUMBERS:
        raise TooLargeError(
            f"expected at most {MAX_NUMBERS // width:,} examinees for {len(model.items)} items, got"
            f" {many(n_examinees)}: their random numbers alone would need"
            f" {many(8 * n_examinees * width)} bytes",
            needed=n_examinees * width,
            budget=MAX_NUMBERS,
        )
    luck = np.empty((n_examinees, width))
    for number in range(n_examinees):
        source = np.random.SeedSequence(seed, spawn_key=(number, 0))
        luck[number] = np.random.default_rng(source).random(width)
    return luck


def _hidden(model: ItemBank, luck: Floats) -> dict[str, Levels]:
    """Return the states of all hidden variables, drawn parents first."""
    order = {v.name: number for number, v in enumerate(model.hidden)}
    states: dict[str, Levels] = {}
    for cpd in model.hidden_network().cpds:
        name, parents = cpd.variable.name, tuple(v.name for v in cpd.parents)
        table = np.real(cpd.to_factor().sum_to((*parents, name)).values)
        rows = _configurations(model, parents, states) if parents else np.zeros(len(luck), np.intp)
        states[name] = _draw(table.reshape(-1, table.shape[-1]), rows, luck[:, order[name]])
    return states


def _configurations(
    model: ItemBank, names: Sequence[str], states: dict[str, Levels]
) -> NDArray[np.intp]:
    sizes = [model.network.variable(name).n_states for name in names]
    return np.ravel_multi_index([states[name] for name in names], sizes)


def _draw(table: Floats, rows: NDArray[np.intp], luck: Floats) -> Levels:
    """Return a state for each examinee, drawn from that examinee's row of a table."""
    sums = np.cumsum(table, axis=1)
    sums /= sums[:, -1:]  # so that rounding makes no impossible state possible
    drawn: Levels = (luck[:, None] >= sums[rows, :-1]).sum(axis=1)
    return drawn


@checked
def fold_numbers(n_examinees: int, *, folds: int = 10, seed: int = 1) -> NDArray[np.intp]:
    """Return the fold of each examinee: ``default_rng(seed).permutation(n) % folds``.

    Parameters
    ----------
    n_examinees
        The number of examinees.
    folds
        The number of folds, from 2 to the number of examinees.
    seed
        At least 0; names the division into folds, so that others can repeat it.

    Raises
    ------
    InvalidArgumentError
        If there are fewer than 2 folds or more than examinees, too many examinees, or a
        negative seed.

    Examples
    --------
    >>> fold_numbers(6, folds=2).tolist()
    [0, 0, 0, 1, 1, 1]
    """
    if not 2 <= folds <= n_examinees:
        raise InvalidArgumentError(f"expected 2 to {n_examinees} folds, got {folds}", folds)
    if n_examinees > MAX_NUMBERS or seed < 0:
        raise InvalidArgumentError(
            f"expected n_examinees up to {MAX_NUMBERS:,} and a seed from 0, got {n_examinees:,}"
            f" and {seed}",
            seed,
        )
    return np.random.default_rng(seed).permutation(n_examinees) % folds
