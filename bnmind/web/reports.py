"""What people read about a test and its sessions: the forms of answers, and how they are made.

The library is loaded when the first session is read, so that the server answers soon after its
start.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from bnmind.web.forms import Form

if TYPE_CHECKING:
    from bnmind.adaptive import Session
    from bnmind.questions.event_log import Event
    from bnmind.web.store import Sitting


class Shows(Form):
    """The parts that the design lets the examinee see."""

    during: bool
    """The skills, and the reasons, while the test goes on."""
    report: bool
    """The report at the end."""


class About(Form):
    """The test."""

    title: str
    n_items: int
    most_items: int
    """How many of them are asked at most."""
    skills: list[str]
    """Their labels."""
    needs_code: bool
    is_demonstration: bool
    shows: Shows


class Question(Form):
    """The item to answer."""

    item: str
    """Its name."""
    text: str
    picture: str | None
    """Its address."""
    choices: list[str]
    marks_itself: bool
    """Whether the examinee says if the item was solved."""


class Skill(Form):
    """What is known about a skill."""

    skill: str
    label: str
    levels: dict[str, float]
    """The probability of each level."""
    level: str
    """The most probable one."""
    probability: float
    """Its probability."""
    mastery: float | None
    """The probability of the higher of two levels."""
    words: str
    interval: list[float] | None
    """That of the probability, if the design asks for it."""


class Ability(Form):
    """An ability on a scale, of a bank that has one."""

    mean: float
    deviation: float
    words: str


class Profile(Form):
    """What is known about the skills."""

    skills: list[Skill]
    ability: Ability | None
    entropy_before: float
    """In bits."""
    entropy: float
    """In bits."""
    known: float
    """The share of the bits that is known."""
    words: str


class State(Form):
    """Where a session stands."""

    title: str
    name: str
    number: int
    """The number of questions before; it goes with the answer."""
    question: Question | None
    """Null if the test is over."""
    over: bool
    profile: Profile | None
    """Null where the design does not show it."""
    shows: Shows


class Begun(State):
    """A session that begins or is resumed."""

    session: str
    """Its secret."""


class SkillBits(Form):
    """What an answer should tell about a skill."""

    skill: str
    label: str
    information: float


class Why(Form):
    """Why an item is asked."""

    item: str
    information: float
    """What the answer should tell, in bits."""
    entropy: float
    """What is unknown of the skills, in bits."""
    by_skill: list[SkillBits]
    words: list[str]


class RankedItem(Form):
    """An open item."""

    item: str
    information: float
    expected_entropy: float
    by_skill: dict[str, float]
    allowed: bool
    """Whether it may be asked now."""


class Ranking(Form):
    """The open items, best first."""

    entropy: float
    rows: list[RankedItem]


class Known(Form):
    """The probability of each level of each skill."""

    entropy: float
    posterior: dict[str, dict[str, float]]


class Report(Form):
    """The report on a test, for the examinee."""

    title: str
    name: str
    n_asked: int
    n_answered: int
    stop_reason: str
    profile: Profile
    impossible: bool
    """Whether nobody gives these answers, by the bank."""
    begun: str
    last: str


class GivenAnswer(Form):
    """An answer, as the teacher sees it."""

    item: str
    text: str
    choice: str
    response: str
    at: str
    p_value: float | None
    """How surprising it is; small if it does not fit."""
    words: str


class Row(Form):
    """A session in the teacher's table."""

    id: int
    code: str | None
    name: str
    state: str
    """not begun, going on, over, or expired"""
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


class BankSkill(Form):
    """A skill of the bank."""

    skill: str
    label: str
    levels: list[str]


class ClassTable(Form):
    """The sessions of the class."""

    title: str
    needs_code: bool
    skills: list[BankSkill]
    sessions: list[Row]
    earlier: str
    """About the sessions of earlier versions of the test; empty if there are none."""


class MadeCode(Form):
    """An access code."""

    id: int
    code: str
    name: str


class MadeCodes(Form):
    """New access codes."""

    codes: list[MadeCode]


class Deleted(Form):
    """The session that is gone."""

    deleted: int


_SELF_MARKED: Mapping[str, str] = {"1": "I solved it", "0": "I did not solve it"}
_LIKELY, _PROBABLY = 0.95, 0.75


def choices_of(session: Session, item: str) -> tuple[tuple[str, str], ...]:
    """Return the choices of an item, each with the response that it counts as.

    Each seed of a design has an order of its own, unless the item allows only that of the bank.
    """
    import numpy as np

    asked = session.bank.item(item)
    if asked.choices and asked.shuffle:
        order = np.random.default_rng([session.design.seed, *item.encode()])
        return tuple(asked.choices[i] for i in order.permutation(len(asked.choices)))
    if asked.choices:
        return asked.choices
    responses = session.bank.responses(item)
    if set(responses) == set(_SELF_MARKED):
        return tuple((text, response) for response, text in _SELF_MARKED.items())
    return tuple((response, response) for response in responses)


def question(session: Session, place: str, pictures: Mapping[str, object]) -> Question | None:
    """Return the item to answer now; None if the test is over.

    ``place`` is the address of the session.
    """
    if session.stop_reason:
        return None
    item = session.bank.item(session.next_item())
    choices = choices_of(session, item.name)
    return Question(
        item=item.name,
        text=item.text or item.name,
        picture=f"{place}/picture/{len(session.events)}" if item.name in pictures else None,
        choices=[text for text, _ in choices],
        marks_itself=choices == tuple((t, r) for r, t in _SELF_MARKED.items()),
    )


def posterior(session: Session, *, whole: bool = True) -> dict[str, dict[str, float]]:
    """Return the probability of each level of each skill; unless ``whole``, of those reported."""
    shown = (not whole and session.design.report.skills) or session.bank.skills
    return {skill: dict(session.posterior[skill]) for skill in shown}


def profile(session: Session) -> Profile:
    """Return what is known about the skills, in numbers and in words."""
    from bnmind.adaptive import ability_deviation, expected_ability
    from bnmind.adaptive.estimates import has_ability, skill_intervals
    from bnmind.lab.mastermind import words

    bank = session.bank
    shown = session.design.report.skills or bank.skills
    labels = dict(zip(bank.skills, bank.labels, strict=True))
    before = session.prior.entropy
    now = session.belief.entropy
    known = 0.0 if before <= 0 else max(0.0, min(1.0, 1 - now / before))
    ability = None
    if has_ability(bank):
        mean = float(expected_ability(session.belief))
        deviation = float(ability_deviation(session.belief))
        ability = Ability(
            mean=mean,
            deviation=deviation,
            words=f"{_signed(mean)} ± {deviation:.2f}, on a scale whose average is near 0.",
        )
    intervals = skill_intervals(session.belief) if session.design.report.parameters else None
    skills = []
    for name in () if ability else shown:
        levels = dict(session.posterior[name])
        level = max(levels, key=levels.__getitem__)
        skills.append(
            Skill(
                skill=name,
                label=labels[name],
                levels=levels,
                level=level,
                probability=levels[level],
                mastery=list(levels.values())[-1] if len(levels) == 2 else None,
                words=_skill_words(levels, level),
                interval=None if intervals is None else list(intervals[name][level]),
            )
        )
    return Profile(
        skills=skills,
        ability=ability,
        entropy_before=before,
        entropy=now,
        known=known,
        words=f"{words.percent(known)} of what there is to learn about the skills is known"
        f" ({now:.2f} of {before:.2f} bits are open).",
    )


def _signed(number: float) -> str:
    """Return a number with a minus sign that is one.

    >>> _signed(-2.204), _signed(0.5)
    ('−2.20', '0.50')
    """
    return f"{number:.2f}".replace("-", "−")


def _skill_words(levels: Mapping[str, float], level: str) -> str:
    """Return how probable a skill is, in words.

    >>> _skill_words({"0": 0.1, "1": 0.9}, "1"), _skill_words({"0": 0.5, "1": 0.5}, "0")
    ('probably mastered', 'not clear yet')
    """
    if len(levels) != 2:
        from bnmind.lab.mastermind import words

        return f"most probably level {level} ({words.percent(levels[level])})"
    p = list(levels.values())[-1]
    if p >= _LIKELY:
        return "almost certainly mastered"
    if p >= _PROBABLY:
        return "probably mastered"
    if p <= 1 - _LIKELY:
        return "almost certainly not mastered yet"
    return "probably not mastered yet" if p <= 1 - _PROBABLY else "not clear yet"


def ranking(session: Session) -> list[RankedItem]:
    """Return the open items by their expected information, the largest first."""
    return [RankedItem.model_validate(row) for row in session.rank()]


def why(session: Session) -> Why:
    """Return why the item of now is asked: the bits that its answer should give."""
    item = session.next_item()
    bank = session.bank
    labels = dict(zip(bank.skills, bank.labels, strict=True))
    rows = session.rank()
    row = next(row for row in rows if row.item == item)
    best = max((other.information for other in rows if other.allowed), default=0.0)
    told = (
        f"The answer should tell {row.information:.2f} of the {session.belief.entropy:.2f} bits"
        f" that are open, most of it about: {labels[row.skill]}."
    )
    if item in session.design.pilots_among([item]):
        compared = "The item is new: it is asked to learn about the item, not about you."
    elif row.information >= best - 1e-6:
        compared = "No other item that may be asked now should tell more."
    else:
        compared = (
            f"Another item should tell more ({best:.2f} bits); the design of the test asks this"
            " one now, for its mix of topics or to vary the items."
        )
    by_skill = sorted(row.by_skill.items(), key=lambda pair: -pair[1])
    return Why(
        item=item,
        information=row.information,
        entropy=session.belief.entropy,
        by_skill=[
            SkillBits(skill=skill, label=labels[skill], information=bits)
            for skill, bits in by_skill
        ],
        words=[told, compared],
    )


def report(session: Session, sitting: Sitting) -> Report:
    """Return the report on a session for the examinee, without the answers."""
    return Report(
        title=session.bank.title,
        name=sitting.name,
        n_asked=len(session.state.asked),
        n_answered=len(session.state.responses),
        stop_reason=session.stop_reason,
        profile=profile(session),
        impossible=session.impossible,
        begun=sitting.created,
        last=sitting.last,
    )


def teacher_report(
    session: Session, events: Sequence[tuple[Event, str]], row: Row
) -> SessionReport:
    """Return the report on a session for the teacher, given its row in the table."""
    from bnmind.questions.event_log import EventKind

    # The text of what was chosen, by item; a changed answer replaces the one before.
    chosen = {event.item: (event, choice) for event, choice in events if event.item}
    fit = {one.item: one for one in session.person_fit()} if session.design.report.answers else {}
    answers = []
    for item in session.state.asked:
        event, choice = chosen[item]
        p_value = fit[item].p_value if item in fit else None
        answers.append(
            GivenAnswer(
                item=item,
                text=session.bank.item(item).text,
                choice=choice,
                response="" if event.kind is EventKind.SKIP else event.response,
                at=event.at,
                p_value=p_value,
                words="" if p_value is None else _surprise(p_value),
            )
        )
    return SessionReport(
        **vars(row),
        title=session.bank.title,
        begun=row.created,
        profile=profile(session),
        impossible=session.impossible,
        answers=answers,
    )


def _surprise(p_value: float) -> str:
    """Return how surprising an answer is, given all others.

    >>> _surprise(0.02), _surprise(0.5)
    ('surprising: 2.0 %', '')
    """
    from bnmind.lab.mastermind import words

    return f"surprising: {words.percent(p_value)}" if p_value < 0.1 else ""
