"""What a belief about an examinee's skills is, whatever it is computed with."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple, Protocol, Self

from bnmind._messages import shown
from bnmind.adaptive.items.bank import ItemBank
from bnmind.errors import ImpossibleEvidenceError, InvalidArgumentError, InvalidResponseError
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
    """A level of each skill, and how probable it is that these are the examinee's."""

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

    Beliefs are immutable: an update returns a new one and leaves the old one as it was.
    The order of the responses does not matter. Entropy and information are about all the
    hidden variables of the bank jointly: the skills, and whatever else is hidden in its
    network.
    """

    @property
    def bank(self) -> ItemBank:
        """The item bank."""

    @property
    def responses(self) -> Mapping[str, int]:
        """The position of the response to each item answered, in the order of the answers."""

    @property
    def error_chance(self) -> float:
        """The chance that each response was an error; 0 unless `with_errors` made the belief."""

    @property
    def log_evidence(self) -> float:
        """Natural logarithm of the probability of all the responses."""

    @property
    def entropy(self) -> float:
        """The entropy of all skills jointly, in bits; other hidden variables count too."""

    def update(self, item: str, response: int | str) -> Self:
        """Return the belief after one more response.

        Raises
        ------
        UnknownNameError
            If there is no such item.
        InvalidResponseError
            If the item has no such response, or was answered already.
        ImpossibleEvidenceError
            If the responses together have probability zero; it names them.
        """

    def without(self, item: str) -> Self:
        """Return the belief as if an item had not been answered.

        Raises
        ------
        InvalidResponseError
            If it was not.
        """

    def with_errors(self, chance: float) -> Self:
        """Return the belief as if each response had been an error with some chance.

        An error is any of the item's responses, all with the same probability. The chance
        holds for later updates too. A belief with a chance above 0 takes in any response.

        Raises
        ------
        InvalidModelError
            If the chance is not in [0, 1).
        ImpossibleEvidenceError
            If the chance is 0 and the responses together have probability zero.
        """

    def marginal(self, skill: str) -> Floats:
        """Return the probability of each level of a skill, or of another hidden variable."""

    def profile(self) -> Profile:
        """Return the most probable profile of the skills.

        Of several equally probable ones, the one with the lowest levels in the order of
        the skills.
        """

    def masses(self, items: Sequence[str]) -> Floats:
        """Return how probable each parent configuration of each item is.

        ``(items, configurations)``, the rows summing to one; items with fewer
        configurations than others have zeros at the end. They fit `ItemBank.channels`.
        """

    def predict(self, item: str) -> Floats:
        """Return the probability of each response to an item given the responses so far."""

    def information(self, items: Sequence[str] | None = None) -> Floats:
        """Return the information that each item promises about the skills, in bits, ``(items,)``.

        It is the mutual information of the response and all skills jointly: the entropy
        of the belief less what it is expected to be after the response. The very
        function that chooses guesses in Mastermind computes it (`bnmind.information`).
        All items unless given; that of an item answered already means nothing.
        """


def checked_response(
    bank: ItemBank, responses: Mapping[str, int], item: str, response: int | str
) -> int:
    """Return the position of a response to an item that has none yet."""
    number = bank.response(item, response)
    if item in responses:
        raise InvalidResponseError(
            f"{item} was answered already, with {bank.responses(item)[responses[item]]};"
            " remove that response first",
            item,
        )
    return number


def answers_without(
    bank: ItemBank, answers: tuple[tuple[str, int], ...], item: str
) -> tuple[tuple[str, int], ...]:
    """Return answers but for that to one item; `InvalidResponseError` if it was not answered."""
    remaining = tuple(pair for pair in answers if pair[0] != item)
    if len(remaining) == len(answers):
        bank.position(item)
        raise InvalidResponseError(f"{item} was not answered", item)
    return remaining


def impossible_responses(bank: ItemBank, responses: Mapping[str, int]) -> ImpossibleEvidenceError:
    """Return the error that names responses which no profile explains."""
    shown = {item: bank.responses(item)[number] for item, number in responses.items()}
    listed = ", ".join(f"{item}={state}" for item, state in shown.items())
    return ImpossibleEvidenceError(
        f"no profile of the skills explains the responses {listed}", shown
    )
