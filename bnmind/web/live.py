"""The test that a server gives, and who takes it; every answer is stored before it counts.

A session goes on with the bank and the design with which it was begun: answers to one design say
little about what another one would have asked. The database holds both for this. An access code
that nobody has used yet is handed over to the new version. A version is a test of the same title.
"""

from __future__ import annotations

import base64
import binascii
import dataclasses
import hashlib
import json
import secrets
import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import MappingProxyType
from typing import Any

from fastapi import HTTPException

from bnmind.adaptive import (
    Design,
    ItemBank,
    Session,
    SkillBelief,
    read_bank,
    read_design,
    start_belief,
)
from bnmind.adaptive.belief_tables import n_profiles
from bnmind.adaptive.design import design_from
from bnmind.adaptive.records import bank_from_json, bank_to_json
from bnmind.adaptive.sessions import bank_fingerprint
from bnmind.adaptive.stopping import default_stop, most_items_of
from bnmind.datasets import example_path
from bnmind.errors import BnmindError, InvalidModelError, ModelFileError
from bnmind.lab.mastermind import words
from bnmind.questions.event_log import Event
from bnmind.web import reports
from bnmind.web.store import Sitting, Standing, Store, TakenError

_VARIED_START = [{"number": 1, "within": 0.1}]
"""So that neighbors do not begin with the same item."""

_KINDS: Mapping[str, str] = MappingProxyType(
    {
        ".gif": "image/gif",
        ".jpeg": "image/jpeg",
        ".jpg": "image/jpeg",
        ".png": "image/png",
        ".svg": "image/svg+xml",
        ".webp": "image/webp",
    }
)
_MOST_BYTES = 5_000_000


@dataclass(frozen=True)
class Picture:
    """A picture of an item."""

    content: bytes = field(repr=False)
    kind: str
    """Its media type."""


@dataclass(frozen=True, kw_only=True)
class GivenTest:
    """The test that a server gives."""

    design: Design
    pictures: Mapping[str, Picture] = field(default_factory=dict)
    """By item."""
    is_demonstration: bool = False
    stops_by_default: bool = False
    """Whether the design does not say when the test ends."""

    @property
    def bank(self) -> ItemBank:
        """The item bank."""
        return self.design.bank

    @property
    def key(self) -> str:
        """A text that differs between tests; the wording of items does not matter."""
        parts = (bank_fingerprint(self.bank), self.design.text, str(self.is_demonstration))
        return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:32]


def read_plan(bank: Path, design: Path | None) -> GivenTest:
    """Return the test of a bank and a design in files.

    Raises
    ------
    ModelFileError
        If a file cannot be read.
    ModelFileError
        If the design does not fit the bank.
    InvalidModelError
        If a picture is missing, too large, or of a kind that pages do not show.
    """
    items = read_bank(bank)
    if not items.title:
        items = dataclasses.replace(items, title=bank.stem)
    stated = Design(items) if design is None else read_design(design, items)
    return GivenTest(
        design=completed(stated, items),
        pictures=_pictures(stated.bank, bank.parent),
        stops_by_default=stated.stopper is None,
    )


def completed(design: Design, bank: ItemBank) -> Design:
    """Return a design with what it leaves open: when the test ends, and a varied first item.

    The first item is drawn among those with nearly as much information as the best one, unless the
    design has a start, or a selector that does not score items. The text stays that of the file,
    so that the test stays the same one.
    """
    content: dict[str, Any] = json.loads(design.text or "{}")
    if design.stopper is None:
        content["stop"] = {"any": list(default_stop(bank))}
    found = design_from(content, bank)
    if "start" not in content:
        with suppress(ModelFileError):
            found = design_from({**content, "start": _VARIED_START}, bank)
    return dataclasses.replace(found, text=design.text)


def demonstration_plan() -> GivenTest:
    """Return a test that needs no files; it shows the examinee all that it can show."""
    bank = read_bank(example_path("banks/fractions.json"))
    design = read_design(example_path("designs/fractions.toml"), bank)
    report = dataclasses.replace(design.report, during=True, answers=True)
    return GivenTest(design=dataclasses.replace(design, report=report), is_demonstration=True)


def _pictures(bank: ItemBank, folder: Path) -> Mapping[str, Picture]:
    """Return the pictures of items, all faults at once."""
    problems: list[str] = []
    pictures = {}
    for item in bank.items:
        if item.picture:
            try:
                pictures[item.name] = _picture(item.picture, folder)
            except (OSError, ValueError, binascii.Error) as fault:
                reason = getattr(fault, "strerror", None) or str(fault)
                problems.append(f"the picture of item {item.name}: {reason}")
    if problems:
        raise InvalidModelError(problems)
    return MappingProxyType(pictures)


def _picture(text: str, folder: Path) -> Picture:
    """Return a picture; raises ValueError or OSError."""
    if text.startswith("data:"):
        head, _, content = text.removeprefix("data:").partition(",")
        kind, _, coding = head.partition(";")
        if kind not in _KINDS.values() or coding != "base64":
            raise ValueError("expected a data address of a PNG, JPEG, GIF, WebP or SVG in base64")
        return Picture(base64.b64decode(content, validate=True), kind)
    path = Path(text)
    if path.is_absolute() or ".." in path.parts:
        raise ValueError(f"expected a file beside the bank, got {text}")
    if path.suffix.lower() not in _KINDS:
        raise ValueError(f"expected a file ending in {', '.join(_KINDS)}, got {text}")
    place = folder / path
    if place.is_file() and place.stat().st_size > _MOST_BYTES:
        raise ValueError(f"{text} has more than {_MOST_BYTES:,} bytes")
    return Picture(place.read_bytes(), _KINDS[path.suffix.lower()])


def given_from(content: str, now: GivenTest) -> GivenTest:
    """Return a test from its text, with those pictures that the present version has, too."""
    record = json.loads(content)
    bank: ItemBank = bank_from_json(record["bank"])
    stated = design_from(json.loads(record["design"]), bank) if record["design"] else Design(bank)
    design = completed(stated, bank)
    same = set(enumerate(bank.items)) & set(enumerate(now.bank.items))
    names = {item.name for _, item in same}
    pictures = {name: one for name, one in now.pictures.items() if name in names}
    return GivenTest(design=design, pictures=pictures)


def other_test(store: Store, owner: str, now: GivenTest) -> GivenTest:
    """Return the test of a session that was begun with another bank or design.

    Raises
    ------
    HTTPException
        410 if the session cannot go on here; the message says why.
    """
    title, content = store.kept_test(owner)
    if title and title != now.bank.title:
        raise HTTPException(410, f"This session is of another test: {title}.")
    found = None
    with suppress(BnmindError, ValueError, KeyError):  # written by another version
        found = given_from(content, now) if content else None
    if found is not None and found.key == owner:
        return found
    raise HTTPException(
        410,
        "This session was begun with another bank or design, which this server does not know any"
        " more. Your answers are saved. Ask your teacher for a new access code.",
    )


# --- Access codes ---------------------------------------------------------------------------------

_LETTERS = "ABCDEFGHJKMNPQRSTUVWXYZ23456789"
"""Letters and digits that are not taken for one another."""

_GROUP, _GROUPS = 4, 2


def new_code() -> str:
    """Return a new access code: one of 31**8, about 40 bits."""
    groups = ("".join(secrets.choice(_LETTERS) for _ in range(_GROUP)) for _ in range(_GROUPS))
    return "-".join(groups)


def tidy_code(text: str) -> str:
    """Return a code as it was made; case, blanks and hyphens do not matter.

    >>> tidy_code(" abcd efgh "), tidy_code("abc"), tidy_code("")
    ('ABCD-EFGH', 'ABC', '')
    """
    plain = "".join(letter for letter in text.upper() if letter.isalnum())
    return "-".join(plain[i : i + _GROUP] for i in range(0, len(plain), _GROUP))


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
        self.key = given.key
        """The key of the test in the database."""
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
        bank, design = self.given.bank, self.given.design
        try:
            content = json.dumps({"bank": bank_to_json(bank), "design": design.text})
        except BnmindError:  # the bank is too large
            content = ""
        self.store.keep_test(self.key, title=bank.title, content=content)
        self._handed_over = self.store.hand_over(self.key, title=bank.title)

    def earlier(self) -> str:
        """Return what happens to the sessions of earlier versions; empty if there are none."""
        going_on, over = self.store.sessions_of_others(self.key, title=self.given.bank.title)
        said = []
        if self._handed_over:
            codes = words.counted(self._handed_over, "access code", "access codes")
            said.append(f"{codes} of an earlier version, not used before, open this one now.")
        if going_on or over:
            some = words.counted(going_on, "session goes", "sessions go")
            done = words.counted(over, "is", "are")
            said.append(
                f"With an earlier bank or design, {some} on as begun, and {done} over: to see and"
                " export them, start bnmind web with the earlier files."
            )
        return " ".join(said)

    def of(self, *, key: str = "", code: str = "") -> LiveTests:
        """Return the test of a session: this one, or an earlier version with which it goes on.

        Raises
        ------
        HTTPException
            410 if the session belongs to a test that cannot go on here.
        """
        owner = self.store.owner(key=key, code=code) if key or code else None
        if owner is None or owner == self.key:
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

    def about(self, *, is_demonstration: bool) -> reports.About:
        """Return what is known about the test before it begins."""
        design, bank = self.given.design, self.given.bank
        return reports.About(
            title=bank.title,
            n_items=len(bank.items),
            most_items=min(most_items_of(design.stopper) or len(bank.items), len(bank.items)),
            skills=list(bank.labels),
            needs_code=self.needs_code,
            is_demonstration=is_demonstration,
            shows=self._shows(),
        )

    def _shows(self) -> reports.Shows:
        options = self.given.design.report
        return reports.Shows(during=options.during, report=options.examinee)

    def begin(self, code: str, name: str) -> reports.Begun:
        """Begin a session, or resume that of an access code.

        Raises
        ------
        HTTPException
            401 if a code is needed; 404 if no session has the code; 410 if it has expired.
        """
        if code:
            sitting = self.store.sitting(self.key, code=code)
            if sitting is None:
                raise HTTPException(404, "There is no such access code. Is it typed correctly?")
        elif self.needs_code:
            raise HTTPException(401, "This test needs an access code.")
        else:
            sitting = self.new(1, [name], with_code=False)[0]
        self._refuse_expired(sitting)
        return reports.Begun(session=sitting.key, **vars(self._state(sitting)))

    def state(self, key: str) -> reports.State:
        """Return where a session stands: the item to answer, or that it is over."""
        return self._state(self._sitting(key))

    def answer(self, key: str, number: int, item: str, choice: int) -> reports.State:
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
        event = after.events[-1]
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

    def why(self, key: str) -> reports.Why:
        """Return why the item of now is asked."""
        session = self._shown(key)
        with self._lock:
            if session.stop_reason:
                raise HTTPException(409, "The test is over.")
            return reports.why(session)

    def rank(self, key: str) -> reports.Ranking:
        """Return the open items by what they should tell."""
        session = self._shown(key)
        with self._lock:
            rows = reports.ranking(session)
            return reports.Ranking(entropy=session.belief.entropy, rows=rows)

    def posterior(self, key: str) -> reports.Known:
        """Return the probability of each level of each skill."""
        session = self._shown(key)
        with self._lock:
            found = reports.posterior(session, whole=False)
            return reports.Known(entropy=session.belief.entropy, posterior=found)

    def report(self, key: str) -> reports.Report:
        """Return the examinee's report on a test that is over."""
        sitting = self._sitting(key)
        session = self._session(sitting)
        with self._lock:
            if not session.stop_reason:
                raise HTTPException(409, "The test is not over yet.")
            if not self.given.design.report.examinee:
                raise HTTPException(403, "The results of this test are not shown here.")
            return reports.report(session, sitting)

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
                self.store.add(self.key, rows, at=_stamp(self._clock()))
            except TakenError:
                continue  # a code that is there already: once in many years
            found = (self.store.sitting(self.key, key=str(row["key"])) for row in rows)
            made = [sitting for sitting in found if sitting is not None]
            break
        return made

    def table(self) -> list[reports.Row]:
        """Return a row for each session, for the teacher."""
        return [self._row(sitting) for sitting in self.store.sittings(self.key)]

    def teacher_report(self, session_id: int) -> reports.SessionReport:
        """Return the teacher's report on a session."""
        sitting = self._by_id(session_id)
        session = self._session(sitting)
        events = self.store.events(sitting.id)
        with self._lock:
            return reports.teacher_report(session, events, self._row(sitting))

    def delete(self, session_id: int) -> None:
        """Delete a session with all its answers."""
        self.store.delete(self._by_id(session_id).id)

    def sittings_with_events(self) -> list[tuple[Sitting, tuple[tuple[Event, str], ...]]]:
        """Return all sessions with their events."""
        return [(one, self.store.events(one.id)) for one in self.store.sittings(self.key)]

    def state_of(self, sitting: Sitting) -> str:
        """Return ``"not begun"``, ``"going on"``, ``"over"`` or ``"expired"``."""
        if sitting.stop_reason:
            return "over"
        if self._is_expired(sitting):
            return "expired"
        return "going on" if sitting.n_events else "not begun"

    def _row(self, sitting: Sitting) -> reports.Row:
        fields = {
            name: getattr(sitting, name) for name in reports.Row.model_fields if name != "state"
        }
        return reports.Row(state=self.state_of(sitting), **fields)

    # --- Sessions -------------------------------------------------------------------------------

    def _sitting(self, key: str) -> Sitting:
        sitting = self.store.sitting(self.key, key=key) if key else None
        if sitting is None:
            raise HTTPException(404, "There is no such session. Begin the test again.")
        self._refuse_expired(sitting)
        return sitting

    def _refuse_expired(self, sitting: Sitting) -> None:
        if self._is_expired(sitting):
            raise HTTPException(410, "This session has expired. Ask for a new access code.")

    def _by_id(self, session_id: int) -> Sitting:
        sitting = self.store.sitting(self.key, number=session_id)
        if sitting is None:
            raise HTTPException(404, "There is no such session.")
        return sitting

    def _is_expired(self, sitting: Sitting) -> bool:
        last = datetime.fromisoformat(sitting.last).replace(tzinfo=UTC)
        return not sitting.stop_reason and self._clock() - last > self._rest

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

    def _state(self, sitting: Sitting) -> reports.State:
        session = self._session(sitting)
        options = self.given.design.report
        with self._lock:
            asked = reports.question(session, f"/api/tests/{sitting.key}", self.given.pictures)
            over = asked is None
            shown = options.during or (over and options.examinee)
            return reports.State(
                title=self.given.bank.title,
                name=sitting.name,
                number=sitting.n_events,
                question=asked,
                over=over,
                profile=reports.profile(session) if shown else None,
                shows=self._shows(),
            )

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


def _stamp(time: datetime) -> str:
    return time.astimezone(UTC).replace(tzinfo=None).isoformat(timespec="milliseconds")
