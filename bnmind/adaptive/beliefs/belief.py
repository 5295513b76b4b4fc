"""The interface of beliefs about the skills of one examinee."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple, Protocol, Self

from bnmind._display import MOST_ROWS, table_html
from bnmind._messages import shown
from bnmind.adaptive.items.bank import ItemBank
from bnmind.errors import ImpossibleEvidenceError, InvalidArgumentError
from bnmind.information import Floats

__all__ = [
    "Profile",
    "SkillBelief",
    "answers_without",
    "checked_response",
    "impossible_responses",
]


class _Profile(NamedTuple):
    levels: tuple[int, ...]
    """The position of the level of each skill, in the order of the bank's skills."""
    probability: float
    """The probability of the whole profile."""


class Profile(_Profile):
    """A level of each skill, and the probability that an examinee has all of them."""

    __slots__ = ()

    def __new__(cls, levels: Iterable[int], probability: float) -> Profile:
        """Return a profile."""
        if isinstance(levels, str) or not isinstance(levels, Iterable):
            raise InvalidArgumentError(
                f"expected levels as whole numbers, got {shown(levels)}", levels
            )
        return super().__new__(cls, tuple(levels), probability)


class SkillBelief(Protocol):
    """A belief about the skills of one examinee after some responses.

    Beliefs are immutable: an update returns a new belief. The order of the responses does
    not matter. Entropy and information refer to all hidden variables of the bank jointly:
    the skills, and any other hidden variables of its network.
    """

    @property
    def bank(self) -> ItemBank:
        """The item bank."""

    @property
    def responses(self) -> Mapping[str, int]:
        """The position of the response to each item answered, in the order of the answers."""

    @property
    def error_chance(self) -> float:
        """The chance that each response was an error; 0 unless set by `with_errors`."""

    @property
    def log_evidence(self) -> float:
        """Natural logarithm of the probability of all the responses."""

    @property
    def entropy(self) -> float:
        """The entropy of all skills jointly, in bits; other hidden variables count too."""

    def update(self, item: str, response: int | str) -> Self:
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

    def without(self, item: str) -> Self:
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

    def with_errors(self, chance: float) -> Self:
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

    def marginal(self, skill: str) -> Floats:
        """Return the probability of each level of a skill, or of another hidden variable.

        Parameters
        ----------
        skill
            The name of the skill, or of another hidden variable.
        """

    def profile(self) -> Profile:
        """Return the most probable profile of the skills.

        Ties go to the lowest levels, compared in the order of the skills.
        """

    def masses(self, items: Sequence[str]) -> Floats:
        """Return the probability of each parent configuration of each item.

        The shape is ``(items, configurations)``, and rows sum to one. Items with fewer
        configurations than others have zeros at the end, as in `ItemBank.channels`.

        Parameters
        ----------
        items
            The names of items; all if None.
        """

    def predict(self, item: str) -> Floats:
        """Return the probability of each response to an item given the responses so far.

        Parameters
        ----------
        item
            The name of an item.
        """

    def information(self, items: Sequence[str] | None = None) -> Floats:
        """Return the expected information of each item about the skills, in bits, ``(items,)``.

        It is the mutual information of the response and all skills jointly: the entropy
        of the belief minus its expected entropy after the response. It is computed by the
        function that also chooses guesses in Mastermind, in `bnmind.information`. Default
        all items; the value of an answered item has no meaning.

        Parameters
        ----------
        items
            The names of items; all if None.
        """


def checked_response(
    bank: ItemBank, responses: Mapping[str, int], item: str, response: int | str
) -> int:
    """Return the position of a response to an item that has none yet."""
    number = bank.response(item, response)
    if item in responses:
        raise InvalidArgumentError(
            f"{item} was answered already, with {bank.responses(item)[responses[item]]};"
            " remove that response first",
            item,
        )
    return number


def answers_without(
    bank: ItemBank, answers: tuple[tuple[str, int], ...], item: str
) -> tuple[tuple[str, int], ...]:
    """Return answers but for that to one item; `InvalidArgumentError` if it was not answered."""
    remaining = tuple(pair for pair in answers if pair[0] != item)
    if len(remaining) == len(answers):
        bank.position(item)
        raise InvalidArgumentError(f"{item} was not answered", item)
    return remaining


def impossible_responses(bank: ItemBank, responses: Mapping[str, int]) -> ImpossibleEvidenceError:
    """Return an error that names responses that no profile explains."""
    shown = {item: bank.responses(item)[number] for item, number in responses.items()}
    listed = ", ".join(f"{item}={state}" for item, state in shown.items())
    return ImpossibleEvidenceError(
        f"no profile of the skills explains the responses {listed}", shown
    )


def skills_html(belief: SkillBelief, *, caption: str) -> str:
    """Return the most probable level of each skill as an HTML table for notebooks."""
    bank = belief.bank
    rows = []
    for skill in bank.skills[:MOST_ROWS]:
        levels = belief.marginal(skill)
        best = int(levels.argmax())
        rows.append((skill, bank.variable(skill).states[best], f"{100 * levels[best]:.1f} %"))
    heads = ("skill", "most probable level", "probability")
    return table_html(heads, rows, caption=caption, n_rows=len(bank.skills))
