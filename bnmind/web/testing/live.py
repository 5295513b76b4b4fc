"""Tests that people take now: begun, answered, resumed; every answer is stored before it counts."""

from __future__ import annotations

import dataclasses
import secrets
import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from fastapi import HTTPException

from bnmind.adaptive import Event, Session, SkillBelief, start_belief
from bnmind.adaptive.beliefs.profile_space import n_profiles
from bnmind.adaptive.stopping.stopper import most_items_of
from bnmind.web.testing import reports
from bnmind.web.testing.codes import new_code
from bnmind.web.testing.earlier import Earlier, earlier, hand_over, other_test
from bnmind.web.testing.plan import GivenTest, Picture
from bnmind.web.testing.store import Sitting, Standing, Store, TakenError

__all__ = ["LiveTests", "now"]

_MOST_REMEMBERED, _LEAST_REMEMBERED = 256, 32
"""Sessions whose beliefs stay in memory; those of others are computed again from the events."""

_REMEMBERED_PROFILES = 2**21
"""The profiles in the tables of all beliefs that stay in memory: 16 MB."""


def now() -> datetime:
    """Return the time, coordinated universal."""
    return datetime.now(UTC)


class LiveTests:
    """The sessions of a test.

    Nothing here is the only copy of an answer: the database is.

    Parameters
    ----------
    given
        The test.
    store
        The database.
    needs_code
        Whether an access code is needed to begin.
    days
        How long an unfinished session may rest before it expires.
    clock
        The time now.
    """

    def __init__(
        self,
        given: GivenTest,
        store: Store,
        *,
        needs_code: bool,
        days: float = 60.0,
        clock: Callable[[], datetime] = now,
    ) -> None:
        self.given = given
        self.store = store
        self.needs_code = needs_code
        self._key = given.key
        self._rest = timedelta(days=days)
        self._clock = clock
        fitting = _REMEMBERED_PROFILES // n_profiles(given.bank)
        self._remembered = max(_LEAST_REMEMBERED, min(_MOST_REMEMBERED, fitting))
        self._prior: SkillBelief | None = None
        self._lock = threading.RLock()
        self._known: OrderedDict[int, tuple[int, Session]] = OrderedDict()
        self._others: dict[str, LiveTests] = {}
        self._handed_over = 0

    def prepare(self) -> None:
        """Compute what the first examinee would wait for."""
        with self._lock:
            Session.after_events(self.given.design, (), belief=self._start()).next_item()

    def keep(self) -> None:
        """Keep the test in its database, and hand unused codes of earlier versions over to it."""
        self._handed_over = hand_over(self.store, self.given)

    def earlier(self) -> Earlier:
        """Return how many sessions of earlier versions of the test there are."""
        return earlier(self.store, self.given, handed_over=self._handed_over)

    def of(self, *, key: str = "", code: str = "") -> LiveTests:
        """Return the test of a session: this one, or an earlier version with which it goes on.

        Raises
        ------
        HTTPException
            410 if the session belongs to a test that cannot go on here.
        """
        owner = self.store.owner(key=key, code=code) if key or code else None
        if owner is None or owner == self._key:
            return self
        with self._lock:
            if owner not in self._others:
                given = other_test(self.store, owner, self.given)
                self._others[owner] = LiveTests(
                    given,
                    self.store,
                    needs_code=self.needs_code,
                    days=self._rest / timedelta(days=1),
                    clock=self._clock,
                )
            return self._others[owner]

    def _start(self) -> SkillBelief:
        with self._lock:
            if self._prior is None:
                self._prior = start_belief(self.given.bank)
            return self._prior

    # --- People who take the test ---------------------------------------------------------------

    def about(self) -> dict[str, Any]:
        """Return what is known about the test before it begins."""
        design, bank = self.given.design, self.given.bank
        return {
            "title": bank.title,
            "n_items": len(bank.items),
            "most_items": min(most_items_of(design.stopper) or len(bank.items), len(bank.items)),
            "skills": list(bank.labels),
            "needs_code": self.needs_code,
            "shows": {"during": design.report.during, "report": design.report.examinee},
        }

    def begin(self, code: str, name: str) -> dict[str, Any]:
        """Begin a session, or resume that of an access code.

        Raises
        ------
        HTTPException
            401 if a code is needed; 404 if no session has the code; 410 if it has expired.
        """
        if code:
            sitting = self.store.sitting(self._key, code=code)
            if sitting is None:
                raise HTTPException(404, "There is no such access code. Is it typed correctly?")
        elif self.needs_code:
            raise HTTPException(401, "This test needs an access code.")
        else:
            sitting = self.new(1, [name], with_code=False)[0]
        self._refuse_expired(sitting)
        return {"session": sitting.key, **self._state(sitting)}

    def state(self, key: str) -> dict[str, Any]:
        """Return where a session stands: the item to answer, or that it is over."""
        return self._state(self._sitting(key))

    def answer(self, key: str, number: int, item: str, choice: int) -> dict[str, Any]:
        """Store an answer, and return where the session stands then.

        The same answer may be sent again, and counts once.

        Parameters
        ----------
        key
            The secret of the session.
        number
            The number of the question, from the state.
        item
            The name of the item.
        choice
            The place of the choice, from 0.

        Raises
        ------
        HTTPException
            404 if there is no such session; 409 if the question was answered otherwise, or is not
            the one that is asked now; 410 if it has expired; 422 if there is no such choice.
        """
        sitting = self._sitting(key)
        if number == sitting.n_events and self._answered(sitting, item, choice):
            return self.state(key)
        # Somebody was faster: the same answer again, or another one from a second window.
        events = self.store.events(sitting.id)
        if number < len(events):
            event, text = events[number]
            chosen = self._choice(self._session(sitting), event.item, choice)
            if event.item == item and chosen[0] == text:
                return self.state(key)
            raise HTTPException(409, f"Question {number + 1} was answered already, in another way.")
        raise HTTPException(409, "This is not the question that is asked now.")

    def _answered(self, sitting: Sitting, item: str, choice: int) -> bool:
        """Store an answer to the question of now; False if another one was stored before."""
        session = self._session(sitting)
        with self._lock:
            if session.stop_reason:
                raise HTTPException(409, "The test is over.")
            if session.next_item() != item:
                raise HTTPException(409, "This is not the question that is asked now.")
            text, response = self._choice(session, item, choice)
            at = _stamp(self._clock())
            after = session.answer(item, response, at=at)
            standing = _standing(after)
        event = after.history.last
        try:
            self.store.add_event(
                sitting.id, sitting.n_events, event, choice=text, standing=standing
            )
        except TakenError:
            return False
        self._keep(sitting.id, sitting.n_events + 1, after)
        return True

    def picture(self, key: str, number: int) -> Picture:
        """Return the picture of the question that is asked now, given its number."""
        sitting = self._sitting(key)
        session = self._session(sitting)
        with self._lock:
            is_asked = number == sitting.n_events and not session.stop_reason
            found = self.given.pictures.get(session.next_item()) if is_asked else None
        if found is None:
            raise HTTPException(404, "There is no such picture.")
        return found

    def why(self, key: str) -> dict[str, Any]:
        """Return why the item of now is asked."""
        session = self._shown(key)
        with self._lock:
            if session.stop_reason:
                raise HTTPException(409, "The test is over.")
            return reports.why(session)

    def rank(self, key: str) -> dict[str, Any]:
        """Return the open items by what they should tell."""
        session = self._shown(key)
        with self._lock:
            return {"entropy": session.belief.entropy, "rows": reports.ranking(session)}

    def posterior(self, key: str) -> dict[str, Any]:
        """Return the probability of each level of each skill."""
        session = self._shown(key)
        with self._lock:
            return {
                "entropy": session.belief.entropy,
                "posterior": reports.posterior(session, whole=False),
            }

    def report(self, key: str) -> dict[str, Any]:
        """Return the examinee's report on a test that is over."""
        sitting = self._sitting(key)
        session = self._session(sitting)
        with self._lock:
            if not session.stop_reason:
                raise HTTPException(409, "The test is not over yet.")
            if not self.given.design.report.examinee:
                raise HTTPException(403, "The results of this test are not shown here.")
            found = reports.report(session, (), for_teacher=False)
        return found | _times(sitting)

    # --- The teacher ----------------------------------------------------------------------------

    def new(self, number: int, names: Sequence[str], *, with_code: bool) -> list[Sitting]:
        """Return new sessions; names that are missing are empty."""
        made = []
        for _ in range(5):
            rows = [
                {
                    "key": secrets.token_urlsafe(24),
                    "code": new_code() if with_code else None,
                    "name": names[i] if i < len(names) else "",
                    "seed": secrets.randbits(31),
                }
                for i in range(number)
            ]
            try:
                self.store.add(self._key, rows, at=_stamp(self._clock()))
            except TakenError:
                continue  # a code that is there already: once in many years
            found = (self.store.sitting(self._key, key=str(row["key"])) for row in rows)
            made = [sitting for sitting in found if sitting is not None]
            break
        return made

    def table(self) -> list[dict[str, Any]]:
        """Return a row for each session, for the teacher."""
        return [self._row(sitting) for sitting in self.store.sittings(self._key)]

    def teacher_report(self, session_id: int) -> dict[str, Any]:
        """Return the teacher's report on a session."""
        sitting = self._by_id(session_id)
        session = self._session(sitting)
        events = self.store.events(sitting.id)
        with self._lock:
            found = reports.report(session, events, for_teacher=True)
        return found | self._row(sitting) | _times(sitting)

    def delete(self, session_id: int) -> None:
        """Delete a session with all its answers."""
        self.store.delete(self._by_id(session_id).id)

    def sittings_with_events(self) -> list[tuple[Sitting, tuple[tuple[Event, str], ...]]]:
        """Return all sessions with their events."""
        return [(one, self.store.events(one.id)) for one in self.store.sittings(self._key)]

    @property
    def key(self) -> str:
        """The key of the test in the database."""
        return self._key

    def state_of(self, sitting: Sitting) -> str:
        """Return ``"not begun"``, ``"going on"``, ``"over"`` or ``"expired"``."""
        if sitting.standing.stop_reason:
            return "over"
        if self._is_expired(sitting):
            return "expired"
        return "going on" if sitting.n_events else "not begun"

    def _row(self, sitting: Sitting) -> dict[str, Any]:
        standing = sitting.standing
        return {
            "id": sitting.id,
            "code": sitting.code,
            "name": sitting.name,
            "state": self.state_of(sitting),
            "n_asked": standing.n_asked,
            "n_answered": standing.n_answered,
            "stop_reason": standing.stop_reason,
            "entropy": standing.entropy,
            "posterior": standing.posterior,
            "created": sitting.created,
            "last": sitting.last,
        }

    # --- Sessions -------------------------------------------------------------------------------

    def _sitting(self, key: str) -> Sitting:
        sitting = self.store.sitting(self._key, key=key) if key else None
        if sitting is None:
            raise HTTPException(404, "There is no such session. Begin the test again.")
        self._refuse_expired(sitting)
        return sitting

    def _refuse_expired(self, sitting: Sitting) -> None:
        if self._is_expired(sitting):
            raise HTTPException(410, "This session has expired. Ask for a new access code.")

    def _by_id(self, session_id: int) -> Sitting:
        sitting = self.store.sitting(self._key, number=session_id)
        if sitting is None:
            raise HTTPException(404, "There is no such session.")
        return sitting

    def _is_expired(self, sitting: Sitting) -> bool:
        last = datetime.fromisoformat(sitting.last).replace(tzinfo=UTC)
        return not sitting.standing.stop_reason and self._clock() - last > self._rest

    def _session(self, sitting: Sitting) -> Session:
        """Return the session after the events that the database has."""
        with self._lock:
            number, session = self._known.get(sitting.id, (-1, None))
            if session is not None and number == sitting.n_events:
                self._known.move_to_end(sitting.id)
                return session
        events = [event for event, _ in self.store.events(sitting.id)]
        with self._lock:
            design = dataclasses.replace(self.given.design, seed=sitting.seed)
            session = Session.after_events(design, events[: sitting.n_events], belief=self._start())
            self._keep(sitting.id, sitting.n_events, session)
            return session

    def _keep(self, session_id: int, number: int, session: Session) -> None:
        with self._lock:
            self._known[session_id] = (number, session)
            self._known.move_to_end(session_id)
            while len(self._known) > self._remembered:
                self._known.popitem(last=False)

    def _shown(self, key: str) -> Session:
        """Return a session whose belief the examinee may see now."""
        session = self._session(self._sitting(key))
        report = self.given.design.report
        over = bool(session.stop_reason)
        if not (report.during or (over and report.examinee)):
            raise HTTPException(403, "This test does not show what it knows while it goes on.")
        return session

    def _state(self, sitting: Sitting) -> dict[str, Any]:
        session = self._session(sitting)
        options = self.given.design.report
        with self._lock:
            asked = reports.question(session, f"/api/tests/{sitting.key}", self.given.pictures)
            over = asked is None
            return {
                "title": self.given.bank.title,
                "name": sitting.name,
                "number": sitting.n_events,
                "question": asked,
                "over": over,
                "profile": reports.profile(session)
                if options.during or (over and options.examinee)
                else None,
                "shows": {"during": options.during, "report": options.examinee},
            }

    def _choice(self, session: Session, item: str, choice: int) -> tuple[str, str]:
        choices = reports.choices_of(session, item)
        if not 0 <= choice < len(choices):
            raise HTTPException(422, f"Choice: expected 0 to {len(choices) - 1}, got {choice}.")
        return choices[choice]


def _standing(session: Session) -> Standing:
    return Standing(
        n_asked=len(session.state.asked),
        n_answered=len(session.state.responses),
        stop_reason=session.stop_reason,
        entropy=session.belief.entropy,
        posterior=reports.posterior(session),
    )


def _times(sitting: Sitting) -> dict[str, Any]:
    return {"name": sitting.name, "begun": sitting.created, "last": sitting.last}


def _stamp(time: datetime) -> str:
    return time.astimezone(UTC).replace(tzinfo=None).isoformat(timespec="milliseconds")
