"""Live tests of one examinee, saved after every answer."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
from functools import cached_property
from pathlib import Path

from bnmind._arguments import checked, checked_if_it_fails
from bnmind._files import create_file, locked, write_file
from bnmind._values import ReadOnlyDict, Value
from bnmind.adaptive.beliefs.belief import SkillBelief, skills_html
from bnmind.adaptive.beliefs.person_fit import AnswerFit, person_fit
from bnmind.adaptive.beliefs.start import start_belief
from bnmind.adaptive.items.bank import ItemBank
from bnmind.adaptive.pilot import selected_pilot
from bnmind.adaptive.selection.ranking import RankedItem, Ranking, rank_items
from bnmind.adaptive.selection.selector import Selection
from bnmind.adaptive.sessions.design import Design, Outlook
from bnmind.adaptive.sessions.events import Event, EventKind, Replay, SessionState, believed
from bnmind.adaptive.sessions.history import History, history_of
from bnmind.adaptive.sessions.report import SessionReport, report_of
from bnmind.adaptive.sessions.session_files import (
    exists_already,
    read_log,
    refuse_long,
    replayed,
    write_log,
)
from bnmind.adaptive.stopping.ending import NOTHING_LEFT
from bnmind.adaptive.stopping.stopper import Progress
from bnmind.errors import NothingToAskError

__all__ = ["Session"]


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
    history: History[Event]
    """All events, undone ones and undos too."""
    _: KW_ONLY
    state: SessionState
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
            Texts to save in the file. A design read by `read_design` adds its own; see
            `resume_session`.
        belief
            The belief before the first answer; default `start_belief`.

        Raises
        ------
        SessionFileError
            If the file exists.
        FileWriteError
            If it cannot be written.
        TooLargeError
            If the bank's junction tree is too large.
        """
        full_design = Design(design) if isinstance(design, ItemBank) else design
        prior = start_belief(full_design.bank) if belief is None else belief
        place = None if path is None else Path(path)
        if place is not None and place.exists():
            raise exists_already(place)
        session = cls(
            design=full_design,
            prior=prior,
            history=History(),
            state=SessionState(),
            belief=prior,
            path=place,
            about={**({"design": full_design.text} if full_design.text else {}), **(about or {})},
        )
        if place is not None:
            if not session.stop_reason:
                session.next_item()
            if not create_file(place, session.to_json()):
                raise exists_already(place)
        return session

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
            The same design as at the start. The file contains the seed and the events, but
            not the selector, the stopper and the rules.
        belief
            The belief before the first answer; default `start_belief`.
        salvage
            Whether to read the complete lines of a truncated or damaged file. The session
            then has no path, so the file does not change; see `save`.

        Raises
        ------
        SessionFileError
            If the file cannot be read, is truncated, is of a newer version or of another
            bank, or an event is not valid. The file does not change.
        """
        full_design = Design(design) if isinstance(design, ItemBank) else design
        place = Path(path)
        saved = read_log(place, full_design.bank, salvage=salvage)
        full_design = dataclasses.replace(full_design, seed=saved.seed)
        prior = start_belief(full_design.bank) if belief is None else belief
        state = replayed(place, full_design.bank, saved.events)
        session = cls._after_all(full_design, prior, saved.events, state)
        return dataclasses.replace(session, path=None if salvage else place, about=saved.about)

    @classmethod
    @checked
    def after_events(
        cls, design: Design, events: Sequence[Event], *, belief: SkillBelief | None = None
    ) -> Session:
        """Return the session after `events` that were kept elsewhere, such as in a database.

        The `design` and the `belief` are those of the start, as for `start`.

        Raises
        ------
        UnknownNameError, InvalidArgumentError
            If an event is not valid.
        """
        prior = start_belief(design.bank) if belief is None else belief
        replay = Replay(design.bank)
        for event in events:
            replay.add(event)
        return cls._after_all(design, prior, events, replay.state())

    @classmethod
    def _after_all(
        cls, design: Design, prior: SkillBelief, events: Sequence[Event], state: SessionState
    ) -> Session:
        counted = design.counted(state.responses)
        now = believed(prior, counted, error_chance=prior.error_chance)
        return cls(design, prior, history_of(events), state=state, belief=now)

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
    def events(self) -> tuple[Event, ...]:
        """All events, undone ones and undos too, in order."""
        return self.history.to_tuple()

    @cached_property
    def _outlook(self) -> Outlook:
        return self.design.outlook(self.belief, self.state.asked, self.state.set_aside)

    @property
    def allowed(self) -> tuple[str, ...]:
        """The items that may be asked next, in bank order."""
        return self._outlook.allowed

    @property
    def progress(self) -> Progress:
        """The progress of the test, as input to a stopper."""
        allowed = self.design.allowed(self.state.asked, self.state.set_aside)
        return Progress(self.belief, self.design.without_pilots(self.state.asked), allowed)

    @property
    def stop_reason(self) -> str:
        """The reason why the test is over; empty if it continues."""
        return self._outlook.stop_reason

    @cached_property
    def selection(self) -> Selection:
        """The next item with its scores; raises `NothingToAskError` if no item may be asked."""
        if not self.allowed:
            raise NothingToAskError(f"no item may be asked: {self.stop_reason or NOTHING_LEFT}")
        rng = self.design.rng(len(self.state.asked))
        if self._outlook.is_pilot and self.design.pilot is not None:
            return selected_pilot(self.design.pilot, self.belief, self.allowed, rng=rng)
        return self.design.selector.select(self.belief, self.allowed, rng=rng)

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
        SessionFileError
            If another program has written to the file in the meantime.
        FileWriteError
            If the file cannot be written.
        """
        number = self.bank.response(item, response)
        name = self.bank.responses(item)[number]
        event = Event(
            kind=EventKind.ANSWER, item=item, response=name, at=at, set_aside=self._withheld(item)
        )
        return self._after(event, response=number)

    @checked
    def skip(self, item: str, *, at: str = "") -> Session:
        """Return the session after `item` was asked and not answered; `at` as for `answer`."""
        return self._after(
            Event(
                kind=EventKind.SKIP, item=item, response="", at=at, set_aside=self._withheld(item)
            )
        )

    @checked_if_it_fails
    def change(self, item: str, response: int | str, *, at: str = "") -> Session:
        """Return the session with another `response` to an `item`; `at` as for `answer`."""
        number = self.bank.response(item, response)
        name = self.bank.responses(item)[number]
        return self._after(
            Event(kind=EventKind.CHANGE, item=item, response=name, at=at), response=number
        )

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
        SessionFileError
            If it must not exist, and does, or if the session has become too long to be read.
        FileWriteError
            If it cannot be written.
        """
        moved = dataclasses.replace(self, path=Path(path))
        refuse_long(Path(path), moved.to_json())
        if not new:
            with locked(path):
                write_file(path, moved.to_json())
        elif not create_file(path, moved.to_json()):
            raise exists_already(Path(path))
        return moved

    def to_json(self) -> str:
        """Return the session as JSON text."""
        return self._text

    @cached_property
    def _text(self) -> str:
        from bnmind.adaptive.sessions.records import session_to_json

        return session_to_json(self.bank, self.design.seed, self.about, self.events)

    @property
    def impossible(self) -> bool:
        """Whether no profile of the bank's skills explains all answers.

        If so, each answer counts as an error with the chance ``belief.error_chance``, 2**-40.
        """
        return self.belief.error_chance != self.prior.error_chance

    @cached_property
    def posterior(self) -> Mapping[str, Mapping[str, float]]:
        """The probability of each level of each skill, by name."""
        return ReadOnlyDict(
            {
                skill: ReadOnlyDict(
                    zip(
                        self.bank.variable(skill).states,
                        self.belief.marginal(skill).tolist(),
                        strict=True,
                    )
                )
                for skill in self.bank.skills
            }
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
        return report_of(
            self.design,
            self.state,
            self.prior,
            self.belief,
            answers=self.person_fit(),
            stop_reason=self.stop_reason,
        )

    def _withheld(self, item: str) -> tuple[str, ...]:
        """Return the items that exposure control sets aside if the item is asked."""
        if item not in self.allowed:
            return ()
        selection = self.selection
        return selection.set_aside if selection.item == item else ()

    def _after(self, event: Event, *, response: int | None = None) -> Session:
        """Return the session after an event; ``response`` as for `SessionState.after`."""
        state = self.state.after(self.bank, event, response=response)
        usual = self.prior.error_chance
        belief = believed(self.belief, self.design.counted(state.responses), error_chance=usual)
        after = dataclasses.replace(
            self, history=self.history.after(event), state=state, belief=belief
        )
        if self.path is None:
            return after
        from bnmind.adaptive.sessions.records import extended

        text = extended(self._text, event)
        write_log(self.path, text, text_before=self._text, before=self.history)
        after.__dict__["_text"] = text  # the value of the cached property
        return after
