"""Live tests of one examinee, saved after every answer, and the reports of their results.

A session file is replayed when it is read, and is written unless another program has written to it.
Its form is that of `bnmind.questions.event_log`::

    {"schema": "bnmind-session", "version": 1,
     "bank": {"title": "…", "items": 20, "skills": 8, "fingerprint": "…"},
     "seed": 0, "about": {"selector": "entropy"},
     "events": [
      {"kind": "answer", "item": "item_7", "response": "1", "at": "2026-03-01T10:15:02"},
      {"kind": "undo", "at": "2026-03-01T10:15:09"}
     ]}
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np

from bnmind._arguments import checked, checked_if_it_fails
from bnmind._display import Result, Table
from bnmind._messages import counted, percent
from bnmind._values import Natural, ReadOnlyDict, Value, made
from bnmind.adaptive.beliefs import SkillBelief, skills_html, updated_anyway
from bnmind.adaptive.design import Design, Outlook, design_from
from bnmind.adaptive.estimates import (
    AnswerFit,
    ability_deviation,
    expected_ability,
    has_ability,
    person_fit,
    skill_intervals,
    start_belief,
)
from bnmind.adaptive.items.bank import ItemBank
from bnmind.adaptive.scores import RankedItem, Ranking, Selection, rank_items
from bnmind.adaptive.stopping import NOTHING_LEFT
from bnmind.errors import ModelFileError, NothingToAskError
from bnmind.questions.event_log import (
    Event,
    EventKind,
    LogState,
    LogSubject,
    SavedLog,
    extended,
    log_from_json,
    log_to_json,
    read_log,
    replace_log,
    replayed,
    rounded,
    write_log,
)

_SCHEMA = "bnmind-session"


@dataclass(frozen=True, kw_only=True)
class SavedSession(SavedLog):
    """The content of a session file."""

    bank: LogSubject
    """The bank."""
    seed: Natural = 0
    """The seed of the design."""
    about: Mapping[str, str] = field(default_factory=dict)
    """Other texts saved with the test."""


def bank_fingerprint(bank: ItemBank) -> str:
    """Return a text that differs between banks with different skills, items or probabilities.

    It does not depend on wording, titles, costs and content codes, which may be corrected
    during a session.
    """
    digest = hashlib.sha256()

    def enter(*parts: object) -> None:
        digest.update(json.dumps(parts).encode())

    enter(bank.skills, [(v.name, v.states) for v in bank.hidden])
    for cpd in bank.hidden_network().cpds:
        factor = cpd.to_factor()
        enter(factor.names, factor.values.shape)
        digest.update(rounded(np.real(factor.values), "<i8"))
    for name in bank.item_names:
        enter(name, bank.responses(name), bank.cause(name))
        digest.update(rounded(bank.channel(name), "<i8"))
    return digest.hexdigest()[:32]


def believed(
    belief: SkillBelief,
    before: Mapping[str, int | str],
    now: Mapping[str, int | str],
    *,
    prior: SkillBelief,
) -> SkillBelief:
    """Return a belief given other responses; impossible ones count as errors.

    Parameters
    ----------
    belief
        The belief given the responses before.
    before, now
        The response to each item, by position or by name.
    prior
        The belief before the first response.
    """
    if any(now.get(item) != response for item, response in before.items()):
        belief, before = prior, {}
    for item, response in now.items():
        if item not in before:
            others = belief.without(item) if item in belief.responses else belief
            belief = updated_anyway(others, item, response)
    return belief


@dataclass(frozen=True, kw_only=True)
class SkillReport(Value):
    """The result of a test for one skill."""

    skill: str
    """The name of the skill."""
    label: str
    """The full name of the skill."""
    level: str
    """The most probable level."""
    probability: float
    """The probability of that level."""
    levels: Mapping[str, float]
    """The probability of every level."""
    interval: tuple[float, float] | None = None
    """How far the probability of the most probable level is uncertain because the parameters are:
    an interval of 90 %; see `skill_intervals`. None unless the design asks for it."""


IMPOSSIBLE = (
    "No examinee gives all these answers, by the bank; each of them now counts as an error"
    " with a probability of 2^-40."
)
"""What to know about the belief after answers that no profile of the skills explains."""


@dataclass(frozen=True)
class SessionReport(Result, Value):
    """The result of a test: a view of its session."""

    session: Session
    """The test."""

    @cached_property
    def answers(self) -> tuple[AnswerFit, ...]:
        """The answers, in order, with the person fit of each."""
        return self.session.person_fit()

    @cached_property
    def skills(self) -> tuple[SkillReport, ...]:
        """The skills, in the order of the bank."""
        session, bank = self.session, self.session.bank
        intervals = skill_intervals(session.belief) if session.design.report.parameters else {}
        skills = []
        for name, label in zip(bank.skills, bank.labels, strict=True):
            levels = session.posterior[name]
            level = max(levels, key=levels.__getitem__)
            skills.append(
                SkillReport(
                    skill=name,
                    label=label,
                    level=level,
                    probability=levels[level],
                    levels=levels,
                    interval=intervals[name][level] if intervals else None,
                )
            )
        return tuple(skills)

    def to_dict(self) -> dict[str, Any]:
        """Return the report as plain data, for JSON.

        ``skipped`` are the items asked and not answered, ``pilot`` those whose answers do not count
        (see `PilotItems`), ``profile`` are the most probable levels of all skills together,
        entropies are in bits, ``log_evidence`` is the natural logarithm of the probability of all
        answers, and ``cost`` and ``time`` are those of all items asked, as stated in the bank.
        """
        session = self.session
        bank, asked, belief = session.bank, session.state.asked, session.belief
        profile, items = belief.profile(), [bank.item(name) for name in asked]
        levels = zip(bank.skills, profile.levels, strict=True)
        return {
            "title": bank.title,
            "asked": asked,
            "skipped": session.state.skipped,
            "answers": [dataclasses.asdict(one) for one in self.answers],
            "skills": [dataclasses.asdict(one) for one in self.skills],
            "profile": {skill: bank.variable(skill).states[level] for skill, level in levels},
            "profile_probability": profile.probability,
            "entropy_before": session.prior.entropy,
            "entropy": belief.entropy,
            "log_evidence": belief.log_evidence,
            "cost": sum(item.cost for item in items),
            "time": sum(item.time for item in items),
            "stop_reason": session.stop_reason,
            "impossible": session.impossible,
            "pilot": session.design.pilots_among(asked),
        }

    def _shown(self) -> Iterator[str | Table]:
        session, state = self.session, self.session.state
        if session.impossible:
            yield f"{IMPOSSIBLE}\n"
        items = counted(len(state.asked), "item")
        if pilot := session.design.pilots_among(state.asked):
            items += f" ({len(pilot)} new, which do not count)"
        skipped = f", {len(state.skipped)} skipped" if state.skipped else ""
        yield (
            f"{items} asked{skipped}; {session.prior.entropy:.2f} bits unknown before,"
            f" {session.belief.entropy:.2f} now."
        )
        if self.answers and session.design.report.answers:
            rows = [(one.item, one.response, percent(one.p_value)) for one in self.answers]
            yield Table(("item", "answer", "as surprising or more"), rows)
        yield self._skill_table()

    def _skill_table(self) -> Table:
        belief, options = self.session.belief, self.session.design.report
        if has_ability(belief.bank):
            ability = float(expected_ability(belief)), float(ability_deviation(belief))
            row = (self.skills[0].label, "{:.2f} ± {:.2f}".format(*ability))
            return Table(("", "expected value ± standard deviation"), [row])
        heads = ["skill", "level", "probability"]
        heads += ["if the parameters were others (90 %)"] * options.parameters
        results = []
        for one in self.skills:
            if options.skills and one.skill not in options.skills:
                continue
            ends = [" to ".join(map(percent, one.interval or ()))] * options.parameters
            results.append((one.label, one.level, percent(one.probability), *ends))
        return Table(heads, results)


@dataclass(frozen=True, eq=False)
class Session(Value):
    """The state of a live test. Sessions are immutable: an answer returns a new session.

    Created by `start` or `load`, then by `answer`, `skip`, `change` and `undo`. With a path,
    each of these writes the whole log to the file before it returns, so every session that
    was returned is on disk. Writing is atomic. If two programs continue the same file, the
    second one to write gets an error, so no answer is lost.

    Examples
    --------
    >>> bank = ItemBank.from_qmatrix([[1, 0], [0, 1], [1, 1]], guess=0.2, slip=0.1)
    >>> session = Session.start(Design(bank))
    >>> while not session.stop_reason:
    ...     session = session.answer(session.next_item(), 1)
    >>> session.stop_reason, round(session.posterior["skill_1"]["1"], 3)
    ('every item was asked', 0.946)
    >>> session.undo().undo().state.asked
    ('item_1',)
    """

    design: Design
    """The design of the test."""
    prior: SkillBelief
    """The belief before the first answer."""
    events: tuple[Event, ...]
    """All events, undone ones and undos too."""
    _: KW_ONLY
    state: LogState
    """The state after these events."""
    belief: SkillBelief
    """The current belief about the examinee."""
    path: Path | None = None
    """The file in which the session is saved."""
    about: Mapping[str, str] = field(default_factory=dict)
    """Other texts saved in the file."""

    @classmethod
    @checked
    def start(
        cls,
        design: Design | ItemBank,
        *,
        path: str | os.PathLike[str] | None = None,
        about: Mapping[str, str] | None = None,
        belief: SkillBelief | None = None,
    ) -> Session:
        """Return the session before the first answer.

        Parameters
        ----------
        design
            The design; for a bank, the default design of that bank.
        path
            The file in which to save the session; it must not exist yet. It is written after
            the first item was selected, so a design that fails to select leaves no file.
        about
            Texts to save in the file. A design read by `read_design` adds its own.
        belief
            The belief before the first answer; default `start_belief`.

        Raises
        ------
        ModelFileError
            If the file exists, or cannot be written.
        TooLargeError
            If the bank's junction tree is too large.
        """
        whole = Design(design) if isinstance(design, ItemBank) else design
        texts = {**({"design": whole.text} if whole.text else {}), **(about or {})}
        session = cls.after_events(whole, (), belief=belief, about=texts)
        if path is None:
            return session
        if not Path(path).exists() and not session.stop_reason:
            session.next_item()
        return session.save(path, new=True)

    @classmethod
    @checked
    def load(
        cls,
        path: str | os.PathLike[str],
        design: Design | ItemBank,
        *,
        belief: SkillBelief | None = None,
        salvage: bool = False,
    ) -> Session:
        """Return the session in a file, as it was after the last answer.

        Parameters
        ----------
        path
            The file. It does not change before the next event.
        design
            The same design as at the start; or the bank, for the design that the file holds if it
            was read by `read_design`, else the default design. The seed is that of the file.
        belief
            The belief before the first answer; default `start_belief`.
        salvage
            Whether to read the complete lines of a truncated or damaged file. The session
            then has no path, so the file does not change; see `save`.

        Raises
        ------
        ModelFileError
            If the file cannot be read, is truncated, is of a newer version or of another
            bank, or an event is not valid; or if its design does not fit the bank. The file does
            not change.
        """
        place, saved = os.fspath(path), read_session(path, salvage=salvage)
        if isinstance(design, ItemBank):
            content = content_saved(saved.about, place)
            design = Design(design) if content is None else design_from(content, design)
        bank = design.bank
        if saved.bank.fingerprint != bank_fingerprint(bank):
            raise ModelFileError(
                f"expected a session of the bank {bank.title or 'given'}, got a session of"
                f" {saved.bank.title or 'another bank'} with other skills, items or probabilities,"
                f" in {place}",
                place,
            )
        design = dataclasses.replace(design, seed=saved.seed)
        session = cls.after_events(
            design, saved.events, belief=belief, about=saved.about, place=place
        )
        return session if salvage else dataclasses.replace(session, path=Path(path))

    @classmethod
    @checked
    def after_events(
        cls,
        design: Design,
        events: Sequence[Event],
        *,
        belief: SkillBelief | None = None,
        about: Mapping[str, str] | None = None,
        place: str = "",
    ) -> Session:
        """Return the session after `events` that were kept elsewhere, such as in a database.

        The `design`, the `belief` and `about` are those of the start, as for `start`; `place` names
        the events in errors.

        Raises
        ------
        UnknownNameError, InvalidArgumentError
            If an event is not valid.
        ModelFileError
            Instead, if a place is given.
        """
        bank, prior = design.bank, start_belief(design.bank) if belief is None else belief

        def check(event: Event) -> None:
            if event.kind is not EventKind.UNDO:
                bank.position(event.item)
            if event.kind in (EventKind.ANSWER, EventKind.CHANGE):
                bank.response(event.item, event.response)

        state = replayed(events, check, place=place)
        now = believed(prior, {}, design.counted(state.responses), prior=prior)
        return cls(design, prior, tuple(events), state=state, belief=now, about=about or {})

    def __repr__(self) -> str:
        return f"Session({len(self.state.asked)} of {len(self.bank.items)} items asked)"

    def _repr_html_(self) -> str:
        """Return the skills as an HTML table, which notebooks display."""
        return skills_html(self.belief, caption=repr(self))

    @property
    def bank(self) -> ItemBank:
        """The item bank."""
        return self.design.bank

    @cached_property
    def _outlook(self) -> Outlook:
        return self.design.outlook(self.belief, self.state.asked, self.state.set_aside)

    @property
    def allowed(self) -> tuple[str, ...]:
        """The items that may be asked next, in bank order."""
        return self._outlook.allowed

    @property
    def stop_reason(self) -> str:
        """The reason why the test is over; empty if it continues."""
        return self._outlook.stop_reason

    @cached_property
    def selection(self) -> Selection:
        """The next item with its scores; raises `NothingToAskError` if no item may be asked."""
        if not self.allowed:
            raise NothingToAskError(f"no item may be asked: {self.stop_reason or NOTHING_LEFT}")
        pilot, rng = self.design.pilot, self.design.rng(len(self.state.asked))
        selector = pilot.rule if pilot and self._outlook.is_pilot else self.design.selector
        return selector.select(self.belief, self.allowed, rng=rng)

    def next_item(self) -> str:
        """Return the item to ask next, which is always the same for one session.

        A test may continue after its stopper has ended it; see `stop_reason`.

        Raises
        ------
        NothingToAskError
            If no item may be asked.
        """
        return self.selection.item

    @checked_if_it_fails
    def answer(self, item: str, response: int | str, *, at: str = "") -> Session:
        """Return the session after an answer to any item.

        An answer that is impossible according to the bank is accepted too; see `impossible`.

        Parameters
        ----------
        item
            Any item without an answer; it may have been skipped.
        response
            The position or the name of the response.
        at
            The time of the answer, saved in the file.

        Raises
        ------
        UnknownNameError
            If the bank has no such item.
        InvalidArgumentError
            If the item has no such response, or was answered already.
        ModelFileError
            If another program has written to the file in the meantime, or it cannot be written.
        """
        return self._told(EventKind.ANSWER, item, response, at)

    @checked
    def skip(self, item: str, *, at: str = "") -> Session:
        """Return the session after `item` was asked and not answered; `at` as for `answer`."""
        self.bank.position(item)  # raises if there is no such item
        return self._after(Event(EventKind.SKIP, item, at=at, set_aside=self._withheld(item)))

    @checked_if_it_fails
    def change(self, item: str, response: int | str, *, at: str = "") -> Session:
        """Return the session with another `response` to an `item`; `at` as for `answer`."""
        return self._told(EventKind.CHANGE, item, response, at)

    @checked
    def undo(self, *, at: str = "") -> Session:
        """Return the session with its last event undone, `at` a time as for `answer`.

        The file keeps the event and the undo.

        Raises
        ------
        InvalidArgumentError
            If there is nothing to undo.
        """
        return self._after(Event(EventKind.UNDO, at=at))

    @checked
    def save(self, path: str | os.PathLike[str], *, new: bool = False) -> Session:
        """Write the session to a file, and return the session saved there.

        Parameters
        ----------
        path
            The file; replaced if it exists.
        new
            Whether the file must not exist yet.

        Raises
        ------
        ModelFileError
            If it must not exist, and does; if the session has become too long to be read; or if
            it cannot be written.
        """
        moved = dataclasses.replace(self, path=Path(path))
        if new:
            write_log(path, moved.to_json(), before=None)
        else:
            replace_log(path, moved.to_json())
        return moved

    def to_json(self) -> str:
        """Return the session as JSON text."""
        return self._content

    @cached_property
    def _content(self) -> str:
        bank = self.bank
        sizes = {"title": bank.title, "items": len(bank.items), "skills": len(bank.skills)}
        head = {
            "schema": _SCHEMA,
            "version": 1,
            "bank": {**sizes, "fingerprint": bank_fingerprint(bank)},
            "seed": self.design.seed,
            "about": dict(self.about),
        }
        return log_to_json(head, self.events)

    @property
    def impossible(self) -> bool:
        """Whether no profile of the bank's skills explains all answers.

        If so, each answer counts as an error with the chance ``belief.error_chance``, 2**-40.
        """
        return self.belief.error_chance != self.prior.error_chance

    @cached_property
    def posterior(self) -> Mapping[str, Mapping[str, float]]:
        """The probability of each level of each skill, by name."""
        levels = {skill: self.bank.variable(skill).states for skill in self.bank.skills}
        return ReadOnlyDict(
            (skill, ReadOnlyDict(zip(names, self.belief.marginal(skill).tolist(), strict=True)))
            for skill, names in levels.items()
        )

    def rank(self) -> tuple[RankedItem, ...]:
        """Return the unanswered items by expected information, the largest first.

        Items that may not be asked, because they were skipped or by a rule, are included;
        their ``allowed`` is false.
        """
        items = [name for name in self.bank.item_names if name not in self.state.responses]
        if not items:
            return ()
        return Ranking(
            dataclasses.replace(row, allowed=row.item in self.allowed)
            for row in rank_items(self.belief, items)
        )

    def person_fit(self) -> tuple[AnswerFit, ...]:
        """Return how surprising each answer is, given all other answers.

        ``p_value`` is the probability of an answer at least as surprising.
        """
        answered = [item for item in self.state.asked if item in self.belief.responses]
        return person_fit(self.belief, answered)

    def report(self) -> SessionReport:
        """Return the report of the test."""
        return SessionReport(self)

    def _withheld(self, item: str) -> tuple[str, ...]:
        """Return the items that exposure control sets aside if the item is asked."""
        if item not in self.allowed:
            return ()
        selection = self.selection
        return selection.set_aside if selection.item == item else ()

    def _told(self, kind: EventKind, item: str, response: int | str, at: str) -> Session:
        """Return the session after an answer, or a change of one."""
        number = self.bank.response(item, response)
        name = self.bank.responses(item)[number]
        withheld = self._withheld(item) if kind is EventKind.ANSWER else ()
        return self._after(Event(kind, item, name, at=at, set_aside=withheld), {item: number})

    def _after(self, event: Event, told: Mapping[str, int] = MappingProxyType({})) -> Session:
        """Return the session after an event, given the position of the response, by item."""
        state = self.state.after(event)
        belief = believed(
            self.belief,
            self.design.counted(self.state.responses),
            self.design.counted({**state.responses, **told}),
            prior=self.prior,
        )
        # The fields are valid by now; each event need not be checked again.
        fields = {one.name: getattr(self, one.name) for one in dataclasses.fields(self)}
        fields |= {"events": (*self.events, event), "state": state, "belief": belief}
        after = made(Session, **fields)
        if self.path is not None:
            text = after.__dict__["_content"] = extended(self._content, event)  # the cached one
            write_log(self.path, text, before=self._content, is_same=self._is_in)
        return after

    def _is_in(self, text: str) -> bool:
        """Return whether a text holds the events of this session, however it is written."""
        return log_from_json(text, _SCHEMA, SavedSession).events == self.events


def read_session(path: str | os.PathLike[str], *, salvage: bool = False) -> SavedSession:
    """Return the content of the file of a session; errors and ``salvage`` as for `read_log`."""
    return read_log(path, _SCHEMA, SavedSession, salvage=salvage)


def content_saved(about: Mapping[str, str], place: str) -> dict[str, Any] | None:
    """Return the content of the design among the texts of a saved session; None without one."""
    if "design" not in about:
        return None
    try:
        return dict(json.loads(about["design"]))
    except (ValueError, TypeError, RecursionError) as fault:
        told = f"{place}: the design in the saved session is damaged"
        raise ModelFileError(told, place) from fault
