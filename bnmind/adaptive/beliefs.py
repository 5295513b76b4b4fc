"""Beliefs about the skills of one examinee, and of many, given their responses.

A belief has the tables of a `ProfileSpace`: one over all profiles, or those of a junction tree. The
tables of the beliefs about many examinees have an axis of examinees in front; all else is alike.

A bank may give a response the probability 0, and an examinee may give that response
nevertheless. As long as some profile of the skills explains all responses, the belief follows
the bank. As soon as none does, every response of this examinee is treated as a possible error.
The chance of an error is so small that the belief is the limit of ever smaller chances up to
rounding: the profiles contradicted by the fewest responses, weighted by their probabilities given
all other responses.

=========  ==================================================================
symbol     name here
=========  ==================================================================
ε          ``error_chance``: `ERROR_CHANCE` if the responses are impossible
N[c, r]    ``ItemBank.channel``: the chance of a response
N'[c, r]   (1 − ε) N[c, r] + ε / number of responses: its likelihood
=========  ==================================================================

`bnmind.mastermind.VanishingBelief` treats contradictory replies in Mastermind in the same way.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from functools import cached_property
from typing import Any, Generic, NamedTuple, TypeAlias, TypeVar, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bnmind._arguments import (
    check_shape,
    checked,
    checked_if_it_fails,
    number_array,
    positions,
    whole_array,
)
from bnmind._display import MOST_ROWS, table_html
from bnmind._messages import counted, shown
from bnmind._values import ReadOnlyDict, Value, made, sealed
from bnmind.adaptive.belief_tables import ProfileSpace
from bnmind.adaptive.items.bank import ItemBank
from bnmind.errors import ImpossibleEvidenceError, InvalidArgumentError
from bnmind.information import Floats


class Profile(NamedTuple):
    """A level of each skill, and the probability that an examinee has all of them."""

    levels: tuple[int, ...]
    """The position of the level of each skill, in the order of the bank's skills."""
    probability: float
    """The probability of the whole profile."""


@dataclass(frozen=True, eq=False)
class BatchProfiles(Value):
    """The most probable profile of each examinee."""

    levels: NDArray[np.intp]
    """``(examinees, skills)``, the positions of the levels."""
    probabilities: Floats
    """``(examinees,)``, the probability of each whole profile."""


MISSING = -1
"""The code for a missing response, and for the item of an examinee who is not asked."""

Responses: TypeAlias = NDArray[np.int16]
"""``(…, items)`` positions of responses; `MISSING` where there is none."""

ERROR_CHANCE = 2.0**-40
"""The chance that a response was an error, once the responses are impossible together.

A profile that one more response contradicts counts by this chance, times the ratio of its
probability given all other responses. A chance of 2**-20 is not small enough for that: it moves
probabilities by up to 3e-4 in tests of eight answers.
"""


def likelihood(
    channel: Floats, response: int | slice | NDArray[np.intp], error_chance: float | Floats
) -> Floats:
    """Return the likelihood of a response that may be an error, ``(…, configurations)``.

    Parameters
    ----------
    channel
        The channel of the item, as `ItemBank.channel` returns it.
    response
        The position of the response, or ``(…)`` of them.
    error_chance
        The chance that it is an error, for each of them.
    """
    columns: Floats = channel.T[response]
    if not (error_chance.any() if isinstance(error_chance, np.ndarray) else error_chance):
        return columns
    chances = np.asarray(error_chance)[..., None]
    softened: Floats = (1 - chances) * columns + chances / channel.shape[1]
    return softened


def checked_error_chances(chances: ArrayLike, n_examinees: int | None = None) -> Floats:
    """Return chances of errors as an array.

    Raises
    ------
    InvalidArgumentError
        If they are not in [0, 1), or are neither one number nor one for each examinee.
    """
    numbers = number_array(chances, "chances")
    if n_examinees is not None and numbers.ndim:
        check_shape(numbers, "chances", (n_examinees,))
    wrong = numbers[~((numbers >= 0) & (numbers < 1))]
    if wrong.size:
        raise InvalidArgumentError(f"the chance of an error must be in [0, 1), got {wrong[0]}")
    return numbers


_Number = TypeVar("_Number", float, Floats)
"""A number for one examinee; ``(examinees,)`` numbers for many."""


@dataclass(frozen=True, eq=False)
class _Belief(Value, Generic[_Number]):
    """What beliefs about one examinee and about many share."""

    space: ProfileSpace
    """The profiles of the bank."""
    _: KW_ONLY
    joints: tuple[Floats, ...]
    """The table of each clique of the space, ``(…, cells)``, read-only."""
    log_evidence: _Number
    """Natural logarithm of the probability of all the responses."""
    error_chance: _Number
    """The chance that each response was an error; 0 unless set by `with_errors`."""
    codes: Responses
    """``(…, items)``, the position of each response; `MISSING` where there is none."""
    ranks: Responses
    """``(…, items)``, numbers that grow in the order of the responses; `MISSING` likewise."""

    @property
    def bank(self) -> ItemBank:
        """The item bank."""
        return self.space.bank

    @property
    def table(self) -> Floats | None:
        """The probability of every profile, ``(…, profiles)``; None if held by a junction tree."""
        return self.joints[0] if len(self.joints) == 1 else None

    @cached_property
    def entropy(self) -> _Number:
        """The entropy of all skills jointly, in bits; other hidden variables count too."""
        found = self.space.entropy(self.joints)
        return cast(_Number, sealed(found) if found.ndim else float(found))

    @checked_if_it_fails
    def marginal(self, skill: str) -> Floats:
        """Return the probability of each level of a skill, ``(…, levels)``.

        Parameters
        ----------
        skill
            The name of the skill, or of another hidden variable.
        """
        return self.space.marginal(self.joints, skill)

    @cached_property
    def _row(self) -> Floats:
        return self.space.row(self.joints)

    @cached_property
    def _information(self) -> Floats:
        return sealed(self.space.information(self._row))

    @checked_if_it_fails
    def masses(self, items: Sequence[str] | Sequence[int] | NDArray[np.intp]) -> Floats:
        """Return the probability of each parent configuration of items.

        The shape is ``(…, items, configurations)``, and rows sum to one. Items with fewer
        configurations than others have zeros at the end, as in `ItemBank.channels`.

        Parameters
        ----------
        items
            The names of items, or their positions in ``bank.items``.
        """
        return self.space.masses(self._row, self._positions(items))

    @checked_if_it_fails
    def predict(
        self, items: str | int | Sequence[str] | Sequence[int] | NDArray[np.intp]
    ) -> Floats:
        """Return the probability of each response given the responses so far.

        The shape is ``(…, items, responses)``, or ``(…, responses)`` for one item.

        Parameters
        ----------
        items
            The name of an item or its position, or several of them.
        """
        if isinstance(items, str | int | np.integer):
            (place,) = self._positions([items])
            predicted: Floats = self.masses([place])[..., 0, :] @ self.bank.item_channels[place]
            return predicted
        masses, names = self.masses(items), self.bank.item_names
        channels = self.bank.channels([names[place] for place in self._positions(items)])
        predictions: Floats = np.matmul(masses[..., None, :], channels)[..., 0, :]
        return predictions

    @checked_if_it_fails
    def information(
        self, items: Sequence[str] | Sequence[int] | NDArray[np.intp] | None = None
    ) -> Floats:
        """Return the expected information of items about the skills, in bits, ``(…, items)``.

        It is the mutual information of the response and all skills jointly: the entropy
        of the belief minus its expected entropy after the response. It is computed by the
        function that also chooses guesses in Mastermind, in `bnmind.information`. The value of an
        answered item has no meaning.

        Parameters
        ----------
        items
            The names of items, or their positions in ``bank.items``; all if None.
        """
        found = self._information
        return found if items is None else found.take(self._positions(items), axis=-1)

    def _positions(self, items: Any) -> list[int] | NDArray[np.intp]:
        """Return the positions of items, given by names or by positions."""
        if len(items) and isinstance(items[0], str):
            position = self.bank.position
            return [position(name) for name in items]
        places = whole_array(items, "items")
        n_items = len(self.bank.items)
        if places.ndim != 1 or np.any((places < 0) | (places >= n_items)):
            raise InvalidArgumentError(
                f"expected items as positions from 0 to {n_items - 1}, got {shown(items)}", items
            )
        return places


@dataclass(frozen=True, eq=False)
class SkillBelief(_Belief[float]):
    """A belief about the skills of one examinee after some responses.

    Created by `start_belief`, then by `update`. Beliefs are immutable: an update returns a new
    belief. The order of the responses does not matter. Entropy and information refer to all hidden
    variables of the bank jointly: the skills, and any other hidden variables of its network.

    Examples
    --------
    >>> from bnmind.adaptive import start_belief
    >>> bank = ItemBank.from_qmatrix([[1, 0], [1, 1]], guess=0.2, slip=0.1)
    >>> belief = start_belief(bank).update("item_1", 1)
    >>> belief
    SkillBelief(2 skills, 1 response)
    >>> belief.marginal("skill_1").round(3).tolist()
    [0.182, 0.818]
    """

    @cached_property
    def responses(self) -> Mapping[str, int]:
        """The position of the response to each item answered, in the order of the answers."""
        names, codes, ranks = self.bank.item_names, self.codes.tolist(), self.ranks.tolist()
        given = [place for place, code in enumerate(codes) if code != MISSING]
        return ReadOnlyDict({names[i]: codes[i] for i in sorted(given, key=ranks.__getitem__)})

    @cached_property
    def _latest(self) -> int:
        # Known after each update, because looking for it takes a third of the time of one.
        return int(self.ranks.max())

    def __repr__(self) -> str:
        n_skills, n_given = len(self.bank.skills), int((self.codes != MISSING).sum())
        return f"SkillBelief({counted(n_skills, 'skill')}, {counted(n_given, 'response')})"

    def _repr_html_(self) -> str:
        """Return the skills as an HTML table, which notebooks display."""
        return skills_html(self, caption=repr(self))

    @cached_property
    def batch(self) -> BatchBelief:
        """The same belief, as that about the only examinee of a batch."""
        return made(
            BatchBelief,
            space=self.space,
            joints=tuple([joint[None] for joint in self.joints]),
            log_evidence=sealed(np.array([self.log_evidence])),
            error_chance=sealed(np.array([self.error_chance])),
            codes=self.codes[None],
            ranks=self.ranks[None],
        )

    @cached_property
    def _row(self) -> Floats:
        row: Floats = self.batch._row[0]
        return row

    @cached_property
    def _information(self) -> Floats:
        bits: Floats = self.batch._information[0]
        return bits

    @checked_if_it_fails
    def update(self, item: str, response: int | str) -> SkillBelief:
        """Return the belief after one more response.

        Parameters
        ----------
        item
            The name of an item.
        response
            The position of the response, or its name.

        Raises
        ------
        UnknownNameError
            If the bank has no such item.
        InvalidArgumentError
            If the item has no such response, or was answered already.
        ImpossibleEvidenceError
            If the responses together have probability zero; the message names them.
        """
        space, bank = self.space, self.space.bank
        number, place = bank.response(item, response), bank.position(item)
        if (known := int(self.codes[place])) != MISSING:
            raise InvalidArgumentError(
                f"{item} was answered already, with {bank.responses(item)[known]};"
                " remove that response first",
                item,
            )
        codes, ranks, rank = self.codes.copy(), self.ranks.copy(), self._latest + 1
        codes[place], ranks[place] = number, rank
        home, view = space.item_view(place)
        joints = list(self.joints)
        factor = likelihood(bank.item_channels[place], number, self.error_chance)
        joints[home] = view.times(joints[home], factor)
        total = float(np.add.reduce(joints[home]))
        if not total > 0:
            raise impossible_responses(bank, codes, ranks)
        joints[home] /= total
        space.distribute(joints, home)
        return made(
            SkillBelief,
            space=space,
            joints=tuple([sealed(joint) for joint in joints]),
            log_evidence=self.log_evidence + math.log(total),
            error_chance=self.error_chance,
            codes=sealed(codes),
            ranks=sealed(ranks),
            _latest=rank,
        )

    @checked
    def without(self, item: str) -> SkillBelief:
        """Return the belief as if an item had not been answered.

        Parameters
        ----------
        item
            The name of an item.

        Raises
        ------
        InvalidArgumentError
            If it was not answered.
        """
        codes, place = self.codes[None].copy(), self.bank.position(item)
        if codes[0, place] == MISSING:
            raise InvalidArgumentError(f"{item} was not answered", item)
        codes[0, place] = MISSING
        ranks = np.where(codes == MISSING, MISSING, self.ranks)
        return batch_given(self.space, codes, ranks, self.batch.error_chance).alone(0)

    @checked
    def with_errors(self, chance: float) -> SkillBelief:
        """Return the belief if each response is an error with the given chance.

        An error is any response to the item, all with the same probability. The chance
        applies to later updates too. With a chance above 0 no response is impossible.

        Parameters
        ----------
        chance
            The probability of an error, from 0 to 1.

        Raises
        ------
        InvalidArgumentError
            If the chance is not in [0, 1).
        ImpossibleEvidenceError
            If the chance is 0 and the responses together have probability zero.
        """
        return self.batch.with_errors(chance).alone(0)

    def profile(self) -> Profile:
        """Return the most probable profile of the skills.

        Ties go to the lowest levels, compared in the order of the skills; with a junction tree they
        are broken arbitrarily, but always in the same way.
        """
        found = self.batch.profile()
        return Profile(tuple(found.levels[0].tolist()), float(found.probabilities[0]))


def skills_html(belief: SkillBelief, *, caption: str) -> str:
    """Return the most probable level of each skill as an HTML table for notebooks."""
    bank, rows = belief.bank, []
    for skill in bank.skills[:MOST_ROWS]:
        levels = belief.marginal(skill)
        best = int(levels.argmax())
        rows.append((skill, bank.variable(skill).states[best], f"{100 * levels[best]:.1f} %"))
    heads = ("skill", "most probable level", "probability")
    return table_html(heads, rows, caption=caption, n_rows=len(bank.skills))


@dataclass(frozen=True, eq=False)
class BatchBelief(_Belief[Floats]):
    """The beliefs about the skills of many examinees, each with their own responses.

    Created by `start_beliefs` or `beliefs_given`, then by `update`. All is as in `SkillBelief`,
    with the examinees as a first axis.

    Examples
    --------
    >>> from bnmind.adaptive import beliefs_given
    >>> bank = ItemBank.from_qmatrix([[1, 0], [1, 1]], guess=0.2, slip=0.1)
    >>> batch = beliefs_given(bank, [[1, -1], [0, -1], [-1, -1]])
    >>> batch
    BatchBelief(3 examinees, 2 skills)
    >>> batch.marginal("skill_1").round(3).tolist()
    [[0.182, 0.818], [0.889, 0.111], [0.5, 0.5]]
    """

    @property
    def responses(self) -> Responses:
        """``(examinees, items)`` positions of responses, read-only; `MISSING` for none."""
        return self.codes

    def __len__(self) -> int:
        return len(self.responses)

    def __repr__(self) -> str:
        skills = counted(len(self.bank.skills), "skill")
        return f"BatchBelief({counted(len(self), 'examinee')}, {skills})"

    @checked
    def update(self, items: ArrayLike, responses: ArrayLike) -> BatchBelief:
        """Return the beliefs after one more response of each examinee.

        Parameters
        ----------
        items
            ``(examinees,)`` positions of the items asked; `MISSING` for examinees not asked.
        responses
            ``(examinees,)`` positions of their responses. The response to a missing item
            is ignored; a missing response changes nothing.

        Raises
        ------
        InvalidArgumentError
            If an item or a response is out of range, or the item was answered already;
            the message names the examinee.
        ImpossibleEvidenceError
            If an examinee's responses together have probability zero.
        """
        after, wrong = self._updated(items, responses)
        if wrong.size:
            raise impossible_rows(self.bank, after.codes, wrong.tolist())
        return after

    def _updated(
        self, items: ArrayLike, responses: ArrayLike
    ) -> tuple[BatchBelief, NDArray[np.intp]]:
        """Return the beliefs after one more response, and who cannot have given all of theirs."""
        rows, asked, numbers = self._checked_pairs(items, responses)
        codes, ranks, joints = self.codes.copy(), self.ranks.copy(), list(self.joints)
        codes[rows, asked] = numbers
        ranks[rows, asked] = self.ranks[rows].max(axis=1) + 1
        some = [(item, rows[asked == item]) for item in np.unique(asked).tolist()]
        logs = _absorb(self.space, joints, some, codes, self.error_chance)
        evidence = self.log_evidence + logs
        after = _made(self.space, joints, evidence, self.error_chance, codes, ranks)
        return after, np.flatnonzero(logs == -np.inf)

    def _checked_pairs(
        self, items: ArrayLike, responses: ArrayLike
    ) -> tuple[NDArray[np.intp], NDArray[np.intp], NDArray[np.intp]]:
        """Return the examinees who have answered, the items and the responses."""
        asked, numbers = whole_array(items, "items"), whole_array(responses, "responses")
        check_shape(asked, "items", (len(self),))
        check_shape(numbers, "responses", (len(self),))
        n_items = len(self.bank.items)
        wrong = np.flatnonzero((asked < MISSING) | (asked >= n_items))
        if wrong.size:
            raise InvalidArgumentError(
                f"expected items from 0 to {n_items - 1}, or {MISSING}, got"
                f" {asked[wrong[0]]} for examinee {wrong[0]}",
                int(asked[wrong[0]]),
            )
        rows = np.flatnonzero((asked != MISSING) & (numbers != MISSING))
        asked, numbers = asked[rows], numbers[rows]
        again = np.flatnonzero(self.codes[rows, asked] != MISSING)
        if again.size:
            name = self.bank.item_names[asked[again[0]]]
            raise InvalidArgumentError(
                f"examinee {rows[again[0]]} has answered {name} already", name
            )
        _check_range(self.bank, rows, asked, numbers)
        return rows, asked, numbers

    @checked
    def with_errors(self, chances: ArrayLike) -> BatchBelief:
        """Return the beliefs if each response is an error with the given chance.

        Parameters
        ----------
        chances
            In [0, 1), one for all or ``(examinees,)``; see `SkillBelief.with_errors`.
        """
        numbers = np.broadcast_to(checked_error_chances(chances, len(self)), (len(self),)).copy()
        rows = np.flatnonzero(numbers != self.error_chance)
        changed, logs = _after_all(self.space, self.codes[rows], numbers[rows])
        if (wrong := rows[logs == -np.inf]).size:
            raise impossible_rows(self.bank, self.codes, wrong.tolist())
        arrays = [self.log_evidence.copy(), *[joint.copy() for joint in self.joints]]
        for array, part in zip(arrays, [logs, *changed], strict=True):
            array[rows] = part
        evidence, *joints = arrays
        return _made(self.space, joints, evidence, numbers, self.codes, self.ranks)

    @checked
    def take(self, examinees: ArrayLike) -> BatchBelief:
        """Return the beliefs about some of the examinees, by position or by a mask.

        Parameters
        ----------
        examinees
            Positions of examinees, or a mask ``(examinees,)``.
        """
        rows = positions(examinees, len(self), "examinees")
        arrays = (self.log_evidence, self.error_chance, self.codes, self.ranks)
        joints = [joint[rows] for joint in self.joints]
        return _made(self.space, joints, *[array[rows] for array in arrays])

    @checked
    def alone(self, examinee: int) -> SkillBelief:
        """Return the belief about one examinee, by position.

        Parameters
        ----------
        examinee
            The position of the examinee.
        """
        positions([examinee], len(self), "examinee")
        return made(
            SkillBelief,
            space=self.space,
            joints=tuple([joint[examinee] for joint in self.joints]),
            log_evidence=float(self.log_evidence[examinee]),
            error_chance=float(self.error_chance[examinee]),
            codes=self.codes[examinee],
            ranks=self.ranks[examinee],
        )

    def profile(self) -> BatchProfiles:
        """Return each examinee's most probable profile; ties as in `SkillBelief.profile`."""
        space = self.space
        if space.wide is space:
            return BatchProfiles(*space.most_probable(self.joints))
        # The wide tables may be much larger, so they are made for one examinee after the other.
        levels = np.empty((len(self), len(self.bank.skills)), dtype=np.intp)
        probabilities = np.empty(len(self))
        for row in range(len(self)):
            one = slice(row, row + 1)
            joints, _ = _after_all(space.wide, self.codes[one], self.error_chance[one])
            levels[one], probabilities[one] = space.most_probable(joints)
        return BatchProfiles(levels, probabilities)


def _made(space: ProfileSpace, joints: Iterable[Floats], *arrays: NDArray[Any]) -> BatchBelief:
    """Return beliefs with arrays that nobody else holds, in the order of the fields."""
    names = ("log_evidence", "error_chance", "codes", "ranks")
    own = {name: sealed(array) for name, array in zip(names, arrays, strict=True)}
    return made(BatchBelief, space=space, joints=tuple([sealed(j) for j in joints]), **own)


def batch_given(
    space: ProfileSpace,
    codes: Responses,
    ranks: Responses | None = None,
    error_chance: Floats | None = None,
) -> BatchBelief:
    """Return the beliefs given valid responses, by default in the order of the bank.

    Raises
    ------
    ImpossibleEvidenceError
        If an examinee's responses have probability zero.
    """
    chances = np.zeros(len(codes)) if error_chance is None else error_chance
    joints, logs = _after_all(space, codes, chances)
    if (wrong := np.flatnonzero(logs == -np.inf)).size:
        raise impossible_rows(space.bank, codes, wrong.tolist())
    if ranks is None:
        ranks = np.where(codes == MISSING, MISSING, np.arange(codes.shape[1])).astype(np.int16)
    return _made(space, joints, logs, chances, codes, ranks)


_BITS = 512
"""Tables are scaled before probabilities may have lost so many bits, half of what a float has."""


def _after_all(
    space: ProfileSpace, responses: Responses, error_chance: Floats
) -> tuple[list[Floats], Floats]:
    """Return the tables given all responses, and the log evidence: −inf if they are impossible."""
    joints = [np.repeat(table[None], len(responses), axis=0) for table in space.prior]
    log_evidence = np.zeros(len(responses))
    is_given = responses != MISSING
    answered = np.flatnonzero(is_given.any(axis=0))
    # The tables are scaled now and then, so that no row underflows.
    chance = min({*error_chance.tolist()} - {0.0}, default=0.0)
    cells = [likelihood(space.bank.item_channels[i], slice(None), chance) for i in answered]
    least = np.array([one.min(initial=1.0, where=one > 0) for one in cells])
    block = np.cumsum(-np.log2(least)) // _BITS
    for number in np.unique(block):
        together = answered[block == number].tolist()
        some = [(item, np.flatnonzero(is_given[:, item])) for item in together]
        log_evidence += _absorb(space, joints, some, responses, error_chance)
    return joints, log_evidence


def _absorb(
    space: ProfileSpace,
    joints: list[Floats],
    items: Iterable[tuple[int, NDArray[np.intp]]],
    responses: Responses,
    error_chance: Floats,
) -> Floats:
    """Update tables in place by the responses of some examinees to each item.

    Returns
    -------
    Floats
        ``(examinees,)``, the logarithm of the probability of these responses.
    """
    before, touched = list(joints), set[int]()
    for item, rows in items:
        home, view = space.item_view(item)
        channel, table = space.bank.item_channels[item], joints[home]
        factor = likelihood(channel, responses[rows, item].astype(np.intp), error_chance[rows])
        if len(rows) == len(table):
            joints[home] = view.times(table, factor)
        else:
            joints[home] = table = table if home in touched else table.copy()
            table[rows] = view.times(table[rows], factor)
        touched.add(home)
    if not touched:
        return np.zeros(len(responses))
    root = space.collect(joints, before, touched)
    totals = joints[root].sum(axis=-1)
    joints[root] /= np.where(totals > 0, totals, 1.0)[:, None]
    space.distribute(joints, root)
    logs: Floats = np.log(totals, out=np.full(len(totals), -np.inf), where=totals > 0)
    return logs


def updated_anyway(belief: SkillBelief, item: str, response: int | str) -> SkillBelief:
    """Return the belief after one more response, even if it is impossible for the bank.

    In that case each response counts as an error with the chance `ERROR_CHANCE`, which is the
    ``error_chance`` of the returned belief.

    Raises
    ------
    UnknownNameError, InvalidArgumentError
        As for `SkillBelief.update`.
    """
    try:
        return belief.update(item, response)
    except ImpossibleEvidenceError:
        return belief.with_errors(ERROR_CHANCE).update(item, response)


def updated_batch_anyway(
    beliefs: BatchBelief, items: NDArray[np.intp], responses: NDArray[np.intp]
) -> BatchBelief:
    """Return the beliefs after one more response of each examinee; see `updated_anyway`.

    Parameters
    ----------
    beliefs
        The belief about each examinee.
    items, responses
        ``(examinees,)``, as for `BatchBelief.update`.
    """
    after, wrong = beliefs._updated(items, responses)
    if not wrong.size:
        return after
    chances = beliefs.error_chance.copy()
    chances[wrong] = ERROR_CHANCE
    return beliefs.with_errors(chances).update(items, responses)


def checked_responses(bank: ItemBank, responses: ArrayLike) -> Responses:
    """Return a read-only copy of responses ``(examinees, items)``, checked.

    Raises
    ------
    InvalidArgumentError
        If they are no such array of whole numbers, or an item has no such response; the
        message names row and item.
    """
    try:
        codes = np.asarray(responses)
    except ValueError:  # of rows of several lengths
        codes = whole_array(responses, "responses")
    if codes.ndim != 2 or codes.shape[1] != len(bank.items) or codes.dtype.kind not in "iu":
        raise InvalidArgumentError(
            f"expected whole numbers of shape (examinees, {len(bank.items)}), got an array of"
            f" shape {codes.shape} of {codes.dtype}",
            codes.shape,
        )
    _check_range(bank, np.arange(len(codes))[:, None], np.arange(codes.shape[1]), codes)
    return sealed(codes.astype(np.int16))


def _check_range(
    bank: ItemBank, rows: NDArray[np.intp], items: NDArray[np.intp], codes: NDArray[Any]
) -> None:
    """Raise `InvalidArgumentError` if an item has no such response; rows and items broadcast."""
    most = np.array([channel.shape[1] for channel in bank.item_channels])
    wrong = np.argwhere((codes < MISSING) | (codes >= most[items]))
    if wrong.size:
        first, arrays = tuple(wrong[0]), np.broadcast_arrays(rows, items, codes)
        row, item, code = (int(array[first]) for array in arrays)
        raise InvalidArgumentError(
            f"expected a response from 0 to {most[item] - 1}, or {MISSING} where there is none,"
            f" in row {row}, item {bank.item_names[item]}, got {code}",
            code,
        )


def impossible_responses(
    bank: ItemBank, codes: Responses, ranks: Responses | None = None, of: str = ""
) -> ImpossibleEvidenceError:
    """Return an error that names responses ``(items,)`` that no profile explains, in their order.

    The message ends with ``of``, which says who gave them.
    """
    given = np.flatnonzero(codes != MISSING)
    in_order = given if ranks is None else given[np.argsort(ranks[given])]
    told = {}
    for place in in_order.tolist():
        name = bank.item_names[place]
        told[name] = bank.responses(name)[codes[place]]
    listed = ", ".join([f"{item}={state}" for item, state in told.items()])
    return ImpossibleEvidenceError(
        f"no profile of the skills explains the responses {listed}{of}", told
    )


def impossible_rows(
    bank: ItemBank, responses: Responses, rows: Sequence[int], *, who: str | None = None
) -> ImpossibleEvidenceError:
    """Return the error that names the responses of the first of some examinees.

    The message calls the examinee ``who``; default the position.
    """
    more = f" and {len(rows) - 1} more" if len(rows) > 1 else ""
    known = who is not None or len(responses) > 1
    of = f" of examinee {rows[0] if who is None else who}{more}" if known else ""
    return impossible_responses(bank, responses[rows[0]], of=of)
