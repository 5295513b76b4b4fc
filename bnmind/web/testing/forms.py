"""The forms of the answers about tests; see `bnmind.web.base.answer`."""

from __future__ import annotations

from pydantic import Field

from bnmind.web.base.answer import Answer

__all__ = [
    "About",
    "Begun",
    "ClassTable",
    "Deleted",
    "Known",
    "MadeCodes",
    "Ranking",
    "Report",
    "SessionReport",
    "State",
    "Why",
]


class Shows(Answer):
    """The parts that the design lets the examinee see."""

    during: bool = Field(description="The skills, and the reasons, while the test goes on.")
    report: bool = Field(description="The report at the end.")


class About(Answer):
    """The test."""

    title: str
    n_items: int
    most_items: int = Field(description="How many of them are asked at most.")
    skills: list[str] = Field(description="Their labels.")
    needs_code: bool
    is_demonstration: bool
    shows: Shows


class Question(Answer):
    """The item to answer."""

    item: str = Field(description="Its name.")
    text: str
    picture: str | None = Field(description="Its address.")
    choices: list[str]
    marks_itself: bool = Field(description="Whether the examinee says if the item was solved.")


class Skill(Answer):
    """What is known about a skill."""

    skill: str
    label: str
    levels: dict[str, float] = Field(description="The probability of each level.")
    level: str = Field(description="The most probable one.")
    probability: float = Field(description="Its probability.")
    mastery: float | None = Field(description="The probability of the higher of two levels.")
    words: str
    interval: list[float] | None = Field(
        description="That of the probability, if the design asks for it."
    )


class Ability(Answer):
    """An ability on a scale, of a bank that has one."""

    mean: float
    deviation: float
    words: str


class Profile(Answer):
    """What is known about the skills."""

    skills: list[Skill]
    ability: Ability | None
    entropy_before: float = Field(description="In bits.")
    entropy: float = Field(description="In bits.")
    known: float = Field(description="The share of the bits that is known.")
    words: str


class State(Answer):
    """Where a session stands."""

    title: str
    name: str
    number: int = Field(description="The number of questions before; it goes with the answer.")
    question: Question | None = Field(description="Null if the test is over.")
    over: bool
    profile: Profile | None = Field(description="Null where the design does not show it.")
    shows: Shows


class Begun(State):
    """A session that begins or is resumed."""

    session: str = Field(description="Its secret.")


class SkillBits(Answer):
    """What an answer should tell about a skill."""

    skill: str
    label: str
    information: float


class Why(Answer):
    """Why an item is asked."""

    item: str
    information: float = Field(description="What the answer should tell, in bits.")
    entropy: float = Field(description="What is unknown of the skills, in bits.")
    by_skill: list[SkillBits]
    words: list[str]


class RankedItem(Answer):
    """An open item."""

    item: str
    information: float
    expected_entropy: float
    by_skill: dict[str, float]
    allowed: bool = Field(description="Whether it may be asked now.")


class Ranking(Answer):
    """The open items, best first."""

    entropy: float
    rows: list[RankedItem]


class Known(Answer):
    """The probability of each level of each skill."""

    entropy: float
    posterior: dict[str, dict[str, float]]


class Report(Answer):
    """The report on a test, for the examinee."""

    title: str
    name: str
    n_asked: int
    n_answered: int
    stop_reason: str
    profile: Profile
    impossible: bool = Field(description="Whether nobody gives these answers, by the bank.")
    begun: str
    last: str


class GivenAnswer(Answer):
    """An answer, as the teacher sees it."""

    item: str
    text: str
    choice: str
    response: str
    at: str
    p_value: float | None = Field(description="How surprising it is; small if it does not fit.")
    words: str


class Row(Answer):
    """A session in the teacher's table."""

    id: int
    code: str | None
    name: str
    state: str = Field(description="not begun, going on, over, or expired")
    n_asked: int
    n_answered: int
    stop_reason: str
    entropy: float | None
    posterior: dict[str, dict[str, float]] | None
    created: str
    last: str


class SessionReport(Row):
    """The report on a session, for the teacher."""

    title: str
    begun: str
    profile: Profile
    impossible: bool
    answers: list[GivenAnswer]


class BankSkill(Answer):
    """A skill of the bank."""

    skill: str
    label: str
    levels: list[str]


class ClassTable(Answer):
    """The sessions of the class."""

    title: str
    needs_code: bool
    skills: list[BankSkill]
    sessions: list[Row]
    earlier: str = Field(
        description="About the sessions of earlier versions of the test; empty if there are none."
    )


class MadeCode(Answer):
    """An access code."""

    id: int
    code: str
    name: str


class MadeCodes(Answer):
    """New access codes."""

    codes: list[MadeCode]


class Deleted(Answer):
    """The session that is gone."""

    deleted: int
