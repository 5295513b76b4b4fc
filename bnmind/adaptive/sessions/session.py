"""A live test of one examinee: answer by answer, saved as it goes."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from bnmind._arguments import checked, checked_if_it_fails
from bnmind._file_locks import locked
from bnmind._text_files import create_file, write_file
from bnmind._values import CheckedValue, ReadOnlyDict
from bnmind.adaptive.beliefs.belief import SkillBelief
from bnmind.adaptive.beliefs.person_fit import AnswerFit, person_fit
from bnmind.adaptive.beliefs.start import start_belief
from bnmind.adaptive.items.bank import ItemBank
from bnmind.adaptive.selection.ranking import RankedItem, rank_items
from bnmind.adaptive.selection.selector import Selection
from bnmind.adaptive.sessions.design import Design, Outlook
from bnmind.adaptive.sessions.events import (
    Event,
    EventKind,
    SessionState,
    believed,
)
from bnmind.adaptive.sessions.history import History, history_of
from bnmind.adaptive.sessions.report import SessionReport, SkillReport
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
class Session(CheckedValue):
    """A live test as far as it has come. It never changes: an answer returns a new session.

    Made by `start` or `load`, and from then on by `answer`, `skip`, `change` and `undo`. With
    a path, each of these first writes the whole log to the file, which appears at once or
    not at all, and then returns: what was returned is on disk. Of two programs that go on
    with the same file, the second to write is refused, so that no answer is lost.

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
    """How the test goes on."""
    prior: SkillBelief
    """What was known before the first answer."""
    history: History[Event]
    """All events, undone ones and undos too."""
    state: SessionState
    """Where that has led."""
    belief: SkillBelief
    """What is known of the examinee."""
    path: Path | None = None
    """The file that the session is saved in."""
    about: Mapping[str, str] = field(default_factory=dict)
    """What else the file says of the test."""

    def __reduce__(self) -> tuple[object, ...]:
        parts = (self.design, self.prior, self.history, self.state, self.belief, self.path)
        return (Session, (*parts, dict(self.about)))

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
            How the test goes on; for a bank alone, by minimal expected entropy until every
            item is asked.
        path
            Where to save it; the file must not exist yet. It is written once the design has
            selected a first item, so that a design that cannot does not leave a file.
        about
            Texts to be kept in the file.
        belief
            What is known beforehand; `start_belief` unless given.

        Raises
        ------
        SessionFileError
            If the file exists.
        FileWriteError
            If it cannot be written.
        TooLargeError
            If the bank's junction tree is too large.
        """
        made = Design(design) if isinstance(design, ItemBank) else design
        prior = start_belief(made.bank) if belief is None else belief
        place = None if path is None else Path(path)
        if place is not None and place.exists():
            raise exists_already(place)
        session = cls(
            design=made,
            prior=prior,
            history=History(),
            state=SessionState(),
            belief=prior,
            path=place,
            about=about or {},
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
            The file. It is not changed before something happens.
        design
            As it was: the file keeps the seed and what happened, but selectors, stoppers and
            rules are objects.
        belief
            What was known beforehand; `start_belief` unless given.
        salvage
            Whether a file that is cut off or damaged is read as far as its lines are whole.
            The session then has no path, so that the file stays as it is; see `save`.

        Raises
        ------
        SessionFileError
            If the file cannot be read, is cut off, is of a newer version or of another bank,
            or an event does not fit; the file stays as it is.
        """
        made = Design(design) if isinstance(design, ItemBank) else design
        place = Path(path)
        saved = read_log(place, made.bank, salvage=salvage)
        made = dataclasses.replace(made, seed=saved.seed)
        prior = start_belief(made.bank) if belief is None else belief
        state = replayed(place, made.bank, saved.events)
        now = believed(prior, state.responses, error_chance=prior.error_chance)
        history = history_of(saved.events)
        return cls(
            design=made,
            prior=prior,
            history=history,
            state=state,
            belief=now,
            path=None if salvage else place,
            about=saved.about,
        )

    def __repr__(self) -> str:
        return f"Session({len(self.state.asked)} of {len(self.bank.items)} items asked)"

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
        """What a stopper is told."""
        allowed = self.design.allowed(self.state.asked, self.state.set_aside)
        return Progress(self.belief, self.state.asked, allowed)

    @property
    def stop_reason(self) -> str:
        """Why the test is over, in words; empty if it goes on."""
        return self._outlook.stop_reason

    @cached_property
    def selection(self) -> Selection:
        """The next item, and why; `NothingToAskError` if no item may be asked."""
        if not self.allowed:
            raise NothingToAskError(
                f"expected an item that may be asked, got none: {self.stop_reason or NOTHING_LEFT}"
            )
        rng = self.design.rng(len(self.state.asked))
        return self.design.selector.select(self.belief, self.allowed, rng=rng)

    def next_item(self) -> str:
        """Return the item to ask next; the same one as long as nothing happens.

        A test that is over by its stopper may go on all the same: see `stop_reason`.

        Raises
        ------
        NothingToAskError
            If no item may be asked.
        """
        return self.selection.item

    @checked_if_it_fails
    def answer(self, item: str, response: int | str, *, at: str = "") -> Session:
        """Return the session after an answer, to whichever item.

        An answer that the bank holds for impossible is taken in too; see `impossible`.

        Parameters
        ----------
        item
            Any item without an answer, also one that was skipped.
        response
            Its position or its name.
        at
            When, to be kept in the file.

        Raises
        ------
        UnknownNameError
            If there is no such item.
        InvalidResponseError
            If the item has no such response, or was answered already.
        SessionFileError
            If another program has written to the file meanwhile.
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
        """Return the session after an item was asked and not answered; errors as `answer`."""
        return self._after(
            Event(
                kind=EventKind.SKIP, item=item, response="", at=at, set_aside=self._withheld(item)
            )
        )

    @checked_if_it_fails
    def change(self, item: str, response: int | str, *, at: str = "") -> Session:
        """Return the session with another answer to an item answered; errors as `answer`."""
        number = self.bank.response(item, response)
        name = self.bank.responses(item)[number]
        return self._after(
            Event(kind=EventKind.CHANGE, item=item, response=name, at=at), response=number
        )

    @checked
    def undo(self, *, at: str = "") -> Session:
        """Return the session as it was before what last happened and was not undone.

        The file keeps all of it.

        Raises
        ------
        InvalidResponseError
            If nothing has happened.
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
        from bnmind.adaptive.sessions.session_json import session_to_json

        return session_to_json(self.bank, self.design.seed, self.about, self.events)

    @property
    def impossible(self) -> bool:
        """Whether no profile of the skills explains all the answers, by the bank.

        Then each answer counts as an error with the chance ``belief.error_chance``, 2**-20.
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
        """Return what every item without an answer promises, the most information first.

        Items that may not be asked, as they were skipped or a rule forbids them, are there
        too, and say so.
        """
        items = [name for name in self.bank.item_names if name not in self.state.responses]
        if not items:
            return ()
        return tuple(
            dataclasses.replace(row, allowed=row.item in self.allowed)
            for row in rank_items(self.belief, items)
        )

    def person_fit(self) -> tuple[AnswerFit, ...]:
        """Return for each answer how surprising it is, given all the others.

        Its ``p_value`` is how probable an answer at least as surprising was.
        """
        answered = [item for item in self.state.asked if item in self.state.responses]
        return person_fit(self.belief, answered)

    def report(self) -> SessionReport:
        """Return what the test has found out."""
        profile = self.belief.profile()
        skills = []
        for name, label in zip(self.bank.skills, self.bank.labels, strict=True):
            levels = self.posterior[name]
            level = max(levels, key=lambda state: levels[state])
            skills.append(
                SkillReport(
                    skill=name, label=label, level=level, probability=levels[level], levels=levels
                )
            )
        asked = [self.bank.item(name) for name in self.state.asked]
        return SessionReport(
            title=self.bank.title,
            asked=self.state.asked,
            skipped=self.state.skipped,
            answers=self.person_fit(),
            skills=tuple(skills),
            profile={
                skill: self.bank.variable(skill).states[level]
                for skill, level in zip(self.bank.skills, profile.levels, strict=True)
            },
            profile_probability=profile.probability,
            entropy_before=self.prior.entropy,
            entropy=self.belief.entropy,
            log_evidence=self.belief.log_evidence,
            cost=sum(item.cost for item in asked),
            time=sum(item.time for item in asked),
            stop_reason=self.stop_reason,
            impossible=self.impossible,
        )

    def _withheld(self, item: str) -> tuple[str, ...]:
        """Return what exposure control set aside for the item to be proposed."""
        if item not in self.allowed:
            return ()
        selection = self.selection
        return selection.set_aside if selection.item == item else ()

    def _after(self, event: Event, *, response: int | None = None) -> Session:
        """Return the session after an event; ``response`` as for `SessionState.after`."""
        state = self.state.after(self.bank, event, response=response)
        usual = self.prior.error_chance
        belief = believed(self.belief, state.responses, error_chance=usual)
        after = dataclasses.replace(
            self, history=self.history.after(event), state=state, belief=belief
        )
        if self.path is None:
            return after
        from bnmind.adaptive.sessions.session_json import extended

        text = extended(self._text, event)
        write_log(self.path, text, text_before=self._text, before=self.history)
        after.__dict__["_text"] = text  # the value of the cached property
        return after
