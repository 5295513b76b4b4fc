"""Questions, profiles, reasons and reports of a session, ready to be sent as JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from bnmind.adaptive import Event, EventKind, Session, ability_deviation, expected_ability
from bnmind.adaptive.beliefs.ability_estimates import has_ability
from bnmind.adaptive.beliefs.parameter_uncertainty import skill_intervals
from bnmind.web.base import words

__all__ = ["choices_of", "posterior", "profile", "question", "ranking", "report", "why"]

_SELF_MARKED: Mapping[str, str] = {"1": "I solved it", "0": "I did not solve it"}
_LIKELY, _PROBABLY = 0.95, 0.75


def choices_of(session: Session, item: str) -> tuple[tuple[str, str], ...]:
    """Return the choices of an item, each with the response that it counts as.

    Each seed of a design has an order of its own, unless the item allows only that of the bank.
    """
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


def question(session: Session, place: str, pictures: Mapping[str, object]) -> dict[str, Any] | None:
    """Return the item to answer now; None if the test is over.

    ``place`` is the address of the session.
    """
    if session.stop_reason:
        return None
    item = session.bank.item(session.next_item())
    choices = choices_of(session, item.name)
    return {
        "item": item.name,
        "text": item.text or item.name,
        "picture": f"{place}/picture/{len(session.events)}" if item.name in pictures else None,
        "choices": [text for text, _ in choices],
        "marks_itself": choices == tuple((t, r) for r, t in _SELF_MARKED.items()),
    }


def posterior(session: Session, *, whole: bool = True) -> dict[str, dict[str, float]]:
    """Return the probability of each level of each skill; unless ``whole``, of those reported."""
    shown = (not whole and session.design.report.skills) or session.bank.skills
    return {skill: dict(session.posterior[skill]) for skill in shown}


def profile(session: Session) -> dict[str, Any]:
    """Return what is known about the skills, in numbers and in words."""
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
        ability = {
            "mean": mean,
            "deviation": deviation,
            "words": f"{_signed(mean)} ± {deviation:.2f}, on a scale whose average is near 0.",
        }
    intervals = skill_intervals(session.belief) if session.design.report.parameters else None
    skills = []
    for name in () if ability else shown:
        levels = dict(session.posterior[name])
        level = max(levels, key=levels.__getitem__)
        skills.append(
            {
                "skill": name,
                "label": labels[name],
                "levels": levels,
                "level": level,
                "probability": levels[level],
                "mastery": list(levels.values())[-1] if len(levels) == 2 else None,
                "words": _skill_words(levels, level),
                "interval": None if intervals is None else list(intervals[name][level]),
            }
        )
    return {
        "skills": skills,
        "ability": ability,
        "entropy_before": before,
        "entropy": now,
        "known": known,
        "words": f"{words.percent(known)} of what there is to learn about the skills is known"
        f" ({now:.2f} of {before:.2f} bits are open).",
    }


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
        return f"most probably level {level} ({words.percent(levels[level])})"
    p = list(levels.values())[-1]
    if p >= _LIKELY:
        return "almost certainly mastered"
    if p >= _PROBABLY:
        return "probably mastered"
    if p <= 1 - _LIKELY:
        return "almost certainly not mastered yet"
    return "probably not mastered yet" if p <= 1 - _PROBABLY else "not clear yet"


def ranking(session: Session) -> list[dict[str, Any]]:
    """Return the open items by their expected information, the largest first."""
    return [
        {
            "item": row.item,
            "information": row.information,
            "expected_entropy": row.expected_entropy,
            "by_skill": dict(row.by_skill),
            "allowed": row.allowed,
        }
        for row in session.rank()
    ]


def why(session: Session) -> dict[str, Any]:
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
    return {
        "item": item,
        "information": row.information,
        "entropy": session.belief.entropy,
        "by_skill": [
            {"skill": skill, "label": labels[skill], "information": bits}
            for skill, bits in by_skill
        ],
        "words": [told, compared],
    }


def report(
    session: Session, events: Sequence[tuple[Event, str]], *, for_teacher: bool
) -> dict[str, Any]:
    """Return the report on a session; only that for the teacher has the answers."""
    found: dict[str, Any] = {
        "title": session.bank.title,
        "n_asked": len(session.state.asked),
        "n_answered": len(session.state.responses),
        "stop_reason": session.stop_reason,
        "profile": profile(session),
        "impossible": session.impossible,
    }
    if not for_teacher:
        return found
    # The text of what was chosen, by item; a changed answer replaces the one before.
    chosen = {event.item: (event, choice) for event, choice in events if event.item}
    fit = {row.item: row for row in session.person_fit()} if session.design.report.answers else {}
    answers = []
    for item in session.state.asked:
        event, choice = chosen[item]
        row = fit.get(item)
        answers.append(
            {
                "item": item,
                "text": session.bank.item(item).text,
                "choice": choice,
                "response": "" if event.kind is EventKind.SKIP else event.response,
                "at": event.at,
                "p_value": None if row is None else row.p_value,
                "words": "" if row is None else _surprise(row.p_value),
            }
        )
    return found | {"answers": answers}


def _surprise(p_value: float) -> str:
    """Return how surprising an answer is, given all others.

    >>> _surprise(0.02), _surprise(0.5)
    ('surprising: 2.0 %', '')
    """
    return f"surprising: {words.percent(p_value)}" if p_value < 0.1 else ""
