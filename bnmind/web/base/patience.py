"""Connections whose requests must arrive in time.

Somebody who opens many connections and sends the heads of requests byte by byte would keep all
others out ("slowloris"). The server closes such a connection. Bodies have a limit of their own, see
`bnmind.web.base.safety`.
"""

from __future__ import annotations

import asyncio
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

__all__ = ["PatientProtocol"]


class PatientProtocol(H11Protocol):
    """The protocol of uvicorn, which waits for the head of a request for a limited time."""

    patience = 20.0
    """How long the head of a request may take to arrive, in seconds."""

    _watch: asyncio.TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:
        """Begin to wait for a request."""
        super().connection_made(transport)
        self._look()

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
