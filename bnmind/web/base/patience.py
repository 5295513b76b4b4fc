"""Connections whose requests must arrive in time, and in few parts.

Somebody who opens many connections and sends the heads of requests byte by byte would keep all
others out ("slowloris"). The server closes such a connection, and earlier if there are too many:
then one of the address that has most of those whose request is not complete. The time for a body
is limited in `bnmind.web.base.safety`; here its parts are counted, of which each takes a moment.
"""

from __future__ import annotations

import asyncio
import math
from collections import Counter
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

__all__ = ["PatientProtocol"]


MOST_PARTS = 2000
"""The parts, such as chunks, in which a body may come: a megabyte has about 700 packets."""


class _Parts(h11.Connection):
    """A connection that refuses a body in too many parts."""

    _number = 0

    def next_event(self) -> Any:
        event = super().next_event()
        self._number = self._number + 1 if isinstance(event, h11.Data) else 0
        if self._number > MOST_PARTS:
            raise h11.RemoteProtocolError("the body comes in too many parts")
        return event


class PatientProtocol(H11Protocol):
    """The protocol of uvicorn, which waits for the head of a request for a limited time."""

    patience = 20.0
    """How long the head of a request may take to arrive, in seconds."""

    _watch: asyncio.TimerHandle | None = None

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._most = self.limit_concurrency or math.inf
        if self.limit_concurrency:
            # uvicorn refuses at its limit, and counts requests of closed connections for a moment.
            self.limit_concurrency *= 2
        self.conn = _Parts(h11.SERVER)
        self.since = self.loop.time()

    def connection_made(self, transport: Any) -> None:
        """Begin to wait for a request."""
        super().connection_made(transport)
        self._look()
        while len(self.connections) >= self._most:
            if not self._make_room():
                break

    def _make_room(self) -> bool:
        """Close the oldest connection of the address with most that wait; False if none waits."""
        everybody = (one for one in self.connections if isinstance(one, PatientProtocol))
        waiting = [one for one in everybody if one.waits]
        if not waiting:
            return False
        ((address, _),) = Counter(_host(one) for one in waiting).most_common(1)
        oldest = min((one for one in waiting if _host(one) == address), key=lambda one: one.since)
        self.connections.discard(oldest)
        oldest.transport.abort()
        return True

    @property
    def waits(self) -> bool:
        """Whether the server waits for the client: for a request, or for the rest of it."""
        is_idle = self.cycle is None or self.cycle.response_complete
        return is_idle or self.conn.their_state is h11.SEND_BODY

    def send_400_response(self, msg: str) -> None:
        """Refuse a request, unless its answer has begun."""
        if self.conn.our_state in (h11.IDLE, h11.SEND_RESPONSE):
            super().send_400_response(msg)
        else:
            self.transport.close()

    def data_received(self, data: bytes) -> None:
        """Wait on if the head is not complete."""
        super().data_received(data)
        self._look()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop waiting."""
        self._stop_watch()
        super().connection_lost(exc)

    def _look(self) -> None:
        if self.conn.their_state is not h11.IDLE:
            self._stop_watch()
        elif self._watch is None:
            self._watch = asyncio.get_running_loop().call_later(self.patience, self._give_up)

    def _give_up(self) -> None:
        # A visitor who waits for an answer sends nothing; that is not slowness.
        if self.conn.their_state is h11.IDLE and (
            self.cycle is None or self.cycle.response_complete
        ):
            self.transport.close()

    def _stop_watch(self) -> None:
        if self._watch is not None:
            self._watch.cancel()
            self._watch = None


def _host(connection: PatientProtocol) -> str:
    return connection.client[0] if connection.client else ""
