"""The forms of the answers about networks; see `bnmind.web.base.answer`."""

from __future__ import annotations

from pydantic import Field

from bnmind.web.base.answer import Answer

__all__ = ["Explained", "Picture", "Queried", "Ranked"]


class Variable(Answer):
    """A variable and its distribution."""

    name: str
    states: list[str]
    parents: list[str]
    posterior: list[float] = Field(description="The probability of each state.")


class Queried(Answer):
    """The distribution of every variable, given the evidence."""

    title: str
    variables: list[Variable]
    log_probability: float = Field(description="The natural logarithm of that of the evidence.")
    words: str
    drawn: bool = Field(description="Whether there is a picture of the network.")


class Picture(Answer):
    """A picture."""

    svg: str


class RankedQuestion(Answer):
    """A variable that can be observed."""

    question: str = Field(description="The variable.")
    information: float = Field(description="What its state should tell, in bits.")
    expected_entropy: float = Field(description="What should be unknown then, in bits.")
    predicted: dict[str, float] = Field(description="The probability of each of its states.")


class Ranked(Answer):
    """What to observe next, best first."""

    about: list[str]
    entropy: float = Field(description="What is unknown of the variables of interest, in bits.")
    rows: list[RankedQuestion]


class Explained(Answer):
    """The most probable states of all variables together."""

    states: dict[str, str]
    log_probability: float = Field(description="Of the states and the evidence; natural.")
    probability_given_evidence: float = Field(ge=0)
    words: str
