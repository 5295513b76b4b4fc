"""A server that is killed at random while people answer loses no answer that it acknowledged."""

from __future__ import annotations

import json
import os
import random
import sys
import threading
import time
import urllib.error
import urllib.request
from dataclasses import dataclass, field
from http.client import HTTPException
from pathlib import Path
from typing import Any

import pytest

from bnmind.web.live import LiveTests, read_plan
from bnmind.web.store import Store
from tests.command_line import ROOT
from tests.web.serving import serving

KILLS = int(os.environ.get("BNMIND_KILLS", "6"))
"""How often the server is killed; more than 20 need ``-o faulthandler_timeout=0``."""

PEOPLE = 3
BANK = ROOT / "models" / "banks" / "fractions.json"

pytestmark = pytest.mark.slow


@dataclass
class Person:
    """Somebody who answers as fast as the server does, at random, and begins again at the end."""

    rng: random.Random
    acknowledged: dict[tuple[str, int], str] = field(default_factory=dict)
    """The choice by the session and the number of the question."""
    pending: tuple[str, dict[str, Any], str] | None = None
    """An answer whose reply has not come, and its choice."""
    state: dict[str, Any] = field(default_factory=dict)
    session: str = ""
    resent: int = 0
    refusals: list[str] = field(default_factory=list)

    def go_on(self, address: str) -> None:
        """Answer until the server is gone."""
        try:
            if self.pending is not None:
                self.resent += 1
                self._send(address)
            while True:
                if not self.state or self.state["over"]:
                    self.state = _call(address, "", {})
                    self.session = self.state["session"]
                question = self.state["question"]
                choice = self.rng.randrange(len(question["choices"]))
                number = self.state["number"]
                sent = {"number": number, "item": question["item"], "choice": choice}
                self.pending = (self.session, sent, question["choices"][choice])
                self._send(address)
        except urllib.error.HTTPError as refusal:
            self.refusals.append(refusal.read().decode())
        except (OSError, HTTPException, ValueError):
            return  # the server was killed

    def _send(self, address: str) -> None:
        assert self.pending is not None
        session, sent, text = self.pending
        self.state = _call(address, f"/{session}/answer", sent)
        assert self.state["number"] == sent["number"] + 1
        self.acknowledged[session, sent["number"]] = text
        self.pending = None


def _call(address: str, path: str, question: dict[str, Any]) -> Any:
    request = urllib.request.Request(
        f"{address}/api/tests{path}",
        json.dumps(question).encode(),
        {"Content-Type": "application/json"},
    )
    with urllib.request.urlopen(request, timeout=30) as answer:
        return json.load(answer)


def test_no_acknowledged_answer_is_lost(tmp_path: Path) -> None:
    rng = random.Random(18)
    file = tmp_path / "answers.sqlite"
    people = [Person(random.Random(number)) for number in range(PEOPLE)]
    for _ in range(KILLS):
        with serving(tmp_path, "--bank", str(BANK), "--responses", str(file)) as (address, server):
            threads = [threading.Thread(target=one.go_on, args=(address,)) for one in people]
            before = sum(len(one.acknowledged) for one in people)
            for thread in threads:
                thread.start()
            # Not before somebody was answered: otherwise nothing would be killed in its work.
            while sum(len(one.acknowledged) for one in people) == before:
                time.sleep(0.002)
            time.sleep(rng.uniform(0, 0.4))
            server.kill()
            server.wait(20)
            for thread in threads:
                thread.join(40)
    tests = LiveTests(read_plan(BANK, None), Store(f"sqlite:///{file}"), needs_code=False)
    stored = {
        (sitting.key, number): choice
        for sitting, events in tests.sittings_with_events()
        for number, (_, choice) in enumerate(events)
    }
    kept = {key for one in people for key in one.acknowledged}
    sitting_events = [len(events) for _, events in tests.sittings_with_events()]
    for one in people:
        assert one.refusals == []
        for key, choice in one.acknowledged.items():
            assert stored[key] == choice
    # The rest was on its way when the server was killed: at most one answer of each person.
    assert len(stored) - len(kept) <= PEOPLE
    assert sum(sitting_events) == len(stored)
    for sitting in tests.store.sittings(tests.key):
        tests.state(sitting.key)  # all events can be replayed
        assert sitting.n_events == len(tests.store.events(sitting.id))
    tests.store.close()
    sys.stdout.write(
        f"{KILLS} kills, {len(kept)} answers acknowledged, {len(stored)} stored,"
        f" {sum(one.resent for one in people)} sent again after a kill, 0 lost\n"
    )
