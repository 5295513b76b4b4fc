"""The database of tests: sessions, and their events one by one.

An event is stored under the number of events before it. Of two events with the same number the
second one is refused, whoever sends it, so no answer is lost and none counts twice.
"""

from __future__ import annotations

import hashlib
import json
import secrets
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import sqlalchemy as sql
from sqlalchemy.exc import ArgumentError, IntegrityError, NoSuchModuleError, SQLAlchemyError

from bnmind.errors import InvalidArgumentError, MissingLibraryError
from bnmind.questions.event_log import Event, EventKind

_VERSION = 1

_METADATA = sql.MetaData()
_VERSIONS = sql.Table(
    "bnmind_version", _METADATA, sql.Column("version", sql.Integer, primary_key=True)
)
_SESSIONS = sql.Table(
    "bnmind_sessions",
    _METADATA,
    sql.Column("id", sql.Integer, primary_key=True),
    sql.Column("test", sql.String(64), nullable=False, index=True),
    sql.Column("key", sql.String(64), nullable=False, unique=True),
    sql.Column("code", sql.String(16), unique=True),
    sql.Column("name", sql.String(200), nullable=False),
    sql.Column("seed", sql.BigInteger, nullable=False),
    sql.Column("created", sql.String(32), nullable=False),
    sql.Column("last", sql.String(32), nullable=False),
    sql.Column("n_events", sql.Integer, nullable=False),
    sql.Column("n_asked", sql.Integer, nullable=False),
    sql.Column("n_answered", sql.Integer, nullable=False),
    sql.Column("stop_reason", sql.Text, nullable=False),
    sql.Column("entropy", sql.Float),
    sql.Column("posterior", sql.Text),
)
_EVENTS = sql.Table(
    "bnmind_events",
    _METADATA,
    sql.Column("session", sql.ForeignKey("bnmind_sessions.id"), primary_key=True),
    sql.Column("number", sql.Integer, primary_key=True, autoincrement=False),
    sql.Column("kind", sql.String(10), nullable=False),
    sql.Column("item", sql.Text, nullable=False),
    sql.Column("response", sql.Text, nullable=False),
    sql.Column("choice", sql.Text, nullable=False),
    sql.Column("at", sql.String(32), nullable=False),
    sql.Column("set_aside", sql.Text, nullable=False),
)
_TESTS = sql.Table(
    "bnmind_tests",
    _METADATA,
    sql.Column("test", sql.String(64), primary_key=True),
    sql.Column("title", sql.Text, nullable=False),
    sql.Column("content", sql.Text, nullable=False),
)
_TOKENS = sql.Table(
    "bnmind_tokens",
    _METADATA,
    sql.Column("title", sql.String(64), primary_key=True),
    sql.Column("token", sql.String(64), nullable=False),
)


class TakenError(Exception):
    """An event with this number is stored already."""


class LostError(Exception):
    """The database does not answer; nothing of the request is stored."""


@dataclass(frozen=True, kw_only=True)
class Standing:
    """What the table of sessions shows; it follows from the events."""

    n_asked: int = 0
    n_answered: int = 0
    stop_reason: str = ""
    entropy: float | None = None
    """The entropy of all skills, in bits; None before the first answer."""
    posterior: Mapping[str, Mapping[str, float]] | None = None
    """The probability of each level of each skill; None before the first answer."""


@dataclass(frozen=True, kw_only=True)
class Sitting(Standing):
    """A session as the database holds it, without its events."""

    id: int
    key: str
    """The secret with which the examinee's browser or program continues."""
    code: str | None
    """The access code; None if the session was begun without one."""
    name: str
    seed: int
    created: str
    """Coordinated universal time, as all times here, such as ``2026-03-01T10:15:02.120``."""
    last: str
    """The time of the last event; that of the creation before there is one."""
    n_events: int


class Store:
    """A database of sessions.

    Parameters
    ----------
    url
        The address of the database, as SQLAlchemy writes it.

    Raises
    ------
    InvalidArgumentError
        If the database cannot be opened.
    MissingLibraryError
        If its driver is not installed.
    """

    def __init__(self, url: str) -> None:
        try:
            address = sql.make_url(url)
            if address.drivername in ("postgresql", "postgres"):
                address = address.set(drivername="postgresql+psycopg")
            self.place = address.render_as_string(hide_password=True)
            """The address of the database, without its password."""
            if address.get_backend_name() == "sqlite" and address.database:
                self.place = address.database
                if not Path(self.place).parent.is_dir():
                    raise InvalidArgumentError(
                        f"cannot make the file {self.place}: there is no such folder", url
                    )
            self._engine = sql.create_engine(address, pool_pre_ping=True)
        except ModuleNotFoundError as fault:
            raise MissingLibraryError(
                f"this database needs the Python library {fault.name}, which is not installed",
                fault.name or "",
            ) from fault
        except (ArgumentError, NoSuchModuleError) as fault:
            raise InvalidArgumentError(
                "expected a file or the address of a database, such as postgresql://user@host/name",
                url,
            ) from fault
        if address.get_backend_name() == "sqlite":
            sql.event.listen(self._engine, "connect", _set_up_sqlite)
        try:
            _METADATA.create_all(self._engine)
            self._check_version()
        except SQLAlchemyError as fault:
            self.close()
            raise InvalidArgumentError(
                f"cannot open the database {self.place}: {_reason(fault)}", self.place
            ) from fault
        except InvalidArgumentError:
            self.close()
            raise

    def close(self) -> None:
        """Close all connections."""
        self._engine.dispose()

    def _check_version(self) -> None:
        with self._engine.begin() as connection:
            version = connection.scalar(sql.select(sql.func.max(_VERSIONS.c.version)))
            if version is None:
                connection.execute(sql.insert(_VERSIONS), {"version": _VERSION})
        if (version or 0) > _VERSION:
            raise InvalidArgumentError(
                f"the database {self.place} was written by a newer bnmind; install that one",
                self.place,
            )

    @contextmanager
    def _connected(self) -> Iterator[sql.Connection]:
        try:
            with self._engine.begin() as connection:
                yield connection
        except IntegrityError as fault:
            raise TakenError from fault
        except SQLAlchemyError as fault:
            raise LostError(_reason(fault)) from fault

    def add(self, test: str, new: Sequence[Mapping[str, Any]], *, at: str) -> None:
        """Add sessions, all or none.

        Parameters
        ----------
        test
            The test that they belong to.
        new
            The key, the code, the name and the seed of each.
        at
            The time.

        Raises
        ------
        TakenError
            If a key or a code is there already.
        LostError
            If the database does not answer.
        """
        empty = {"n_events": 0, "n_asked": 0, "n_answered": 0, "stop_reason": ""}
        rows = [{**one, **empty, "test": test, "created": at, "last": at} for one in new]
        with self._connected() as connection:
            connection.execute(sql.insert(_SESSIONS), rows)

    def sitting(
        self, test: str, *, key: str = "", code: str = "", number: int = 0
    ) -> Sitting | None:
        """Return the session with a key, a code or a number; None if there is none."""
        columns = _SESSIONS.c
        which = (
            columns.key == key if key else columns.code == code if code else columns.id == number
        )
        with self._connected() as connection:
            row = connection.execute(
                sql.select(_SESSIONS).where(columns.test == test, which)
            ).one_or_none()
        return None if row is None else _sitting(row)

    def owner(self, *, key: str = "", code: str = "") -> str | None:
        """Return the test of the session with a key or a code; None if there is none."""
        columns = _SESSIONS.c
        which = columns.key == key if key else columns.code == code
        with self._connected() as connection:
            return connection.scalar(sql.select(columns.test).where(which))

    # --- Versions of a test ---------------------------------------------------------------------

    def keep_test(self, test: str, *, title: str, content: str) -> None:
        """Store the bank and the design of a test, so that its sessions can always go on."""
        row = {"test": test, "title": title, "content": content}
        with self._connected() as connection:
            connection.execute(sql.delete(_TESTS).where(_TESTS.c.test == test))
            connection.execute(sql.insert(_TESTS), row)

    def kept_test(self, test: str) -> tuple[str, str]:
        """Return the title and the content of a test; two empty texts if they are not there."""
        query = sql.select(_TESTS.c.title, _TESTS.c.content).where(_TESTS.c.test == test)
        with self._connected() as connection:
            row = connection.execute(query).one_or_none()
        return ("", "") if row is None else (row.title, row.content)

    def token(self, title: str, *, new: bool = False) -> str:
        """Return the secret of the teacher of a test, which is the same for all its versions.

        The first call makes it, and ``new`` another one, by which the one before is void.
        """
        key = hashlib.sha256(title.encode()).hexdigest()
        of_test = _TOKENS.c.title == key
        with suppress(TakenError), self._connected() as connection:
            if new:
                connection.execute(sql.delete(_TOKENS).where(of_test))
            row = {"title": key, "token": secrets.token_urlsafe(24)}
            connection.execute(sql.insert(_TOKENS), row)
        with self._connected() as connection:
            return str(connection.scalar(sql.select(_TOKENS.c.token).where(of_test)))

    def hand_over(self, test: str, *, title: str) -> int:
        """Hand the codes of other tests of a title over that nobody has used; return how many."""
        columns = _SESSIONS.c
        unused = (columns.n_events == 0) & columns.code.is_not(None)
        query = sql.update(_SESSIONS).where(unused, _of_others(test, title)).values(test=test)
        with self._connected() as connection:
            return int(connection.execute(query).rowcount)

    def sessions_of_others(self, test: str, *, title: str) -> tuple[int, int]:
        """Return how many sessions of other tests of a title have been begun, and how many ended.

        The first number is that of sessions that go on.
        """
        columns = _SESSIONS.c
        begun = sql.select(columns.stop_reason).where(columns.n_events > 0, _of_others(test, title))
        with self._connected() as connection:
            reasons = connection.scalars(begun).all()
        over = sum(bool(reason) for reason in reasons)
        return len(reasons) - over, over

    def sittings(self, test: str) -> tuple[Sitting, ...]:
        """Return all sessions of a test in the order of their creation."""
        with self._connected() as connection:
            rows = connection.execute(
                sql.select(_SESSIONS).where(_SESSIONS.c.test == test).order_by(_SESSIONS.c.id)
            ).all()
        return tuple(map(_sitting, rows))

    def events(self, session: int) -> tuple[tuple[Event, str], ...]:
        """Return the events of a session in order, each with the choice that was made."""
        query = sql.select(_EVENTS).where(_EVENTS.c.session == session)
        with self._connected() as connection:
            rows = connection.execute(query.order_by(_EVENTS.c.number)).all()
        return tuple(
            (
                Event(
                    EventKind(row.kind),
                    row.item,
                    row.response,
                    at=row.at,
                    set_aside=tuple(json.loads(row.set_aside)),
                ),
                row.choice,
            )
            for row in rows
        )

    def add_event(
        self, session: int, number: int, event: Event, *, choice: str, standing: Standing
    ) -> None:
        """Store an event and the standing after it, both or neither.

        Parameters
        ----------
        session
            The number of the session.
        number
            The number of events before this one.
        event
            The event.
        choice
            The text that the examinee chose.
        standing
            The standing after the event.

        Raises
        ------
        TakenError
            If an event with this number is there already, or the session is not.
        LostError
            If the database does not answer.
        """
        row = {
            **vars(event),
            "session": session,
            "number": number,
            "kind": event.kind.value,
            "choice": choice,
            "set_aside": json.dumps(event.set_aside),
        }
        known = standing.posterior
        posterior = None if known is None else json.dumps({s: dict(of) for s, of in known.items()})
        after = {
            **vars(standing),
            "n_events": number + 1,
            "last": event.at,
            "posterior": posterior,
        }
        before = (_SESSIONS.c.id == session) & (_SESSIONS.c.n_events == number)
        with self._connected() as connection:
            # The event comes first: as the first statement it takes SQLite's lock for writing.
            connection.execute(sql.insert(_EVENTS), row)
            changed = connection.execute(sql.update(_SESSIONS).where(before).values(after))
            if changed.rowcount != 1:
                raise TakenError

    def delete(self, session: int) -> None:
        """Delete a session and its events."""
        with self._connected() as connection:
            connection.execute(sql.delete(_EVENTS).where(_EVENTS.c.session == session))
            connection.execute(sql.delete(_SESSIONS).where(_SESSIONS.c.id == session))


def _of_others(test: str, title: str) -> sql.ColumnElement[bool]:
    """Return which sessions are of other tests of a title."""
    others = sql.select(_TESTS.c.test).where(_TESTS.c.title == title, _TESTS.c.test != test)
    return _SESSIONS.c.test.in_(others)


def _set_up_sqlite(connection: Any, _: object) -> None:
    """Let readers and the writer not wait for each other, and survive a loss of power."""
    cursor = connection.cursor()
    for pragma in ("journal_mode=WAL", "synchronous=FULL", "foreign_keys=ON", "busy_timeout=10000"):
        cursor.execute(f"PRAGMA {pragma}")
    cursor.close()


def _sitting(row: Any) -> Sitting:
    fields = {**row._mapping, "posterior": json.loads(row.posterior or "null")}
    del fields["test"]
    return Sitting(**fields)


def _reason(fault: SQLAlchemyError) -> str:
    """Return the first line of what the database says."""
    said = str(getattr(fault, "orig", None) or fault).strip()
    return said.splitlines()[0] if said else type(fault).__name__
