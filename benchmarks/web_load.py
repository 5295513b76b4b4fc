"""How long visitors of ``bnmind web`` wait if many of them come at once.

Usage: ``python -m benchmarks.web_load [assist play test] [--visitors N] [--think S] [--seconds S]``

The script starts a server of its own on two processors, lets all visitors come at the same moment,
and prints how long the answers took, how much of the processors the server and the script used, and
how loaded the machine was. Visitors think before they ask again, for a time of exponential
distribution; with ``--think 0`` they never rest, which measures throughput. Requests during the
first seconds, in which the server loads compiled code, are reported separately.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import re
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import httpx2
import numpy as np

from bnmind.adaptive import Independent, ItemBank, write_bank
from bnmind.mastermind import Board, Channel, reply

BOARD = Board(4, 6)
NOISE = "false:0.1"

Ask = Callable[[str, object], Awaitable[dict[str, Any]]]
"""Sends a question to an address, and returns the answer."""


@dataclass(frozen=True)
class Request:
    """A request that was answered, or was not."""

    visit: str
    begun: float
    """Seconds after the visitors came."""
    seconds: float
    fault: str
    """Why there is no answer; empty if there is one."""


async def assist(ask: Ask, rng: np.random.Generator) -> AsyncIterator[None]:
    """Follow the advice in a game with false replies, until it is won; one turn at a time."""
    channel = Channel.false_reply(BOARD, 0.1)
    secret = BOARD.code(int(rng.integers(BOARD.n_codes)))
    turns: list[dict[str, str]] = []
    while len(turns) < 15:
        answer = await ask("/api/suggest", {"noise": NOISE, "turns": turns})
        guess = BOARD.parse(answer["guess"])
        if guess == secret:
            return
        true = BOARD.true_replies.index(reply(guess, secret))
        told = channel.reports[channel.draw(true, rng.random())]
        if told == BOARD.winning:
            return
        turns.append({"guess": BOARD.format(guess), "reply": str(told)})
        yield


async def play(ask: Ask, rng: np.random.Generator) -> AsyncIterator[None]:
    """Guess at random in a game against the server, with a hint in between."""
    await ask("/api/play", {"noise": NOISE})
    for number in range(8):
        yield
        guess = BOARD.code(int(rng.integers(BOARD.n_codes)))
        state = await ask("/api/play/guess", {"guess": BOARD.format(guess)})
        if state["over"]:
            return
        if number == 3:
            yield
            await ask("/api/play/hint", {})


async def test(ask: Ask, rng: np.random.Generator) -> AsyncIterator[None]:
    """Answer at random in an adaptive test of thirty skills, each answer saved."""
    state = await ask("/api/tests", {})
    session = state["session"]
    while not state["over"]:
        yield
        answer = {"number": state["number"], "item": state["question"]["item"]}
        choice = int(rng.integers(2))
        state = await ask(f"/api/tests/{session}/answer", {**answer, "choice": choice})


test.__test__ = False  # type: ignore[attr-defined]  # no test of pytest


def write_test(folder: Path) -> tuple[str, ...]:
    """Write a bank of thirty skills and sixty items, and a design; return the options of them."""
    rows = [
        [int(skill in (i // 2, (i // 2 + i % 2) % 30)) for skill in range(30)] for i in range(60)
    ]
    bank = ItemBank.from_qmatrix(rows, guess=0.2, slip=0.1, skills=Independent((0.5,) * 30))
    write_bank(bank, folder / "bank.json")
    design = 'stop = ["items:20"]\n[report]\nduring = true\n'
    (folder / "design.toml").write_text(design, encoding="utf-8")
    names = {"bank": "bank.json", "design": "design.toml", "responses": "answers.sqlite"}
    return tuple(part for key, name in names.items() for part in (f"--{key}", str(folder / name)))


VISITS: dict[str, Callable[[Ask, np.random.Generator], AsyncIterator[None]]] = {
    "assist": assist,
    "play": play,
    "test": test,
}
"""The things that visitors do; each yields when the visitor thinks."""


async def visit(
    address: str, name: str, options: argparse.Namespace, rng: np.random.Generator
) -> list[Request]:
    """Do one thing again and again, and return the requests."""
    requests: list[Request] = []
    start = time.perf_counter()
    # No certificates: to read them takes 20 ms, for which all the other visitors would wait.
    async with httpx2.AsyncClient(base_url=address, timeout=60, verify=False) as client:

        async def ask(path: str, question: object) -> dict[str, Any]:
            begun = time.perf_counter()
            try:
                answer = await client.post(path, json=question)
                fault = "" if answer.status_code == 200 else f"{answer.status_code} {answer.text}"
            except httpx2.HTTPError as error:
                fault = f"{type(error).__name__} {error}"
            seconds = time.perf_counter() - begun
            place = re.sub(r"/tests/[^/]+/", "/tests/SESSION/", path)
            requests.append(Request(f"{name} {place}", begun - start, seconds, fault))
            if fault:
                raise ConnectionError(fault)
            content: dict[str, Any] = answer.json()
            return content

        while time.perf_counter() - start < options.seconds:
            try:
                async for _ in VISITS[name](ask, rng):
                    await asyncio.sleep(rng.exponential(options.think))
                    if time.perf_counter() - start > options.seconds:
                        break
            except ConnectionError:
                await asyncio.sleep(0.1)
            await asyncio.sleep(rng.exponential(options.think))
    return requests


async def crowd(address: str, options: argparse.Namespace) -> list[Request]:
    """Let all visitors come at once, and return their requests."""
    names = options.visits
    rngs = np.random.default_rng(options.seed).spawn(options.visitors)
    everyone = [visit(address, names[i % len(names)], options, rng) for i, rng in enumerate(rngs)]
    return [request for some in await asyncio.gather(*everyone) for request in some]


@contextmanager
def server(folder: str) -> Iterator[tuple[str, int, float]]:
    """Start a server on two processors; give its address, its process, and how long it took.

    In the folder the server remembers its port and its key, and keeps the answers to tests.
    """
    mine = os.sched_getaffinity(0)
    os.sched_setaffinity(0, sorted(mine)[:2])  # the server inherits it
    begun = time.perf_counter()
    process = subprocess.Popen(
        [sys.executable, "-m", "bnmind", "web", *write_test(Path(folder))],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "XDG_CONFIG_HOME": folder},
    )
    os.sched_setaffinity(0, mine)
    assert process.stdout is not None
    try:
        found = re.search(r"http\S+(?=/\s)", process.stdout.readline())
        assert found, "the server did not start"
        yield found[0], process.pid, time.perf_counter() - begun
    finally:
        process.terminate()
        process.wait(20)


def processor_seconds(process: int) -> float:
    """Return the processor time of a process, from Linux's table of processes."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def table(requests: Sequence[Request]) -> str:
    """Return the waiting times as a table in Markdown."""
    lines = [
        "| request | answers | faults | median, ms | 95 %, ms | 99 %, ms | longest, ms |",
        "| --- | ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    for name in sorted({request.visit for request in requests}):
        some = [request for request in requests if request.visit == name]
        times = 1e3 * np.array([request.seconds for request in some if not request.fault] or [0.0])
        faults = sum(bool(request.fault) for request in some)
        marks = " | ".join(
            f"{mark:.0f}" for mark in (*np.percentile(times, (50, 95, 99)), max(times))
        )
        lines.append(f"| {name} | {len(some) - faults} | {faults} | {marks} |")
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("visits", nargs="*", default=list(VISITS), help=", ".join(VISITS))
    parser.add_argument("--visitors", type=int, default=50)
    parser.add_argument("--seconds", type=float, default=30.0)
    parser.add_argument("--think", type=float, default=2.0, help="mean, in seconds")
    parser.add_argument("--warm", type=float, default=10.0, help="how long the start lasts")
    parser.add_argument("--seed", type=int, default=18)
    options = parser.parse_args(arguments)
    if unknown := set(options.visits) - set(VISITS):
        parser.error(f"expected some of {', '.join(VISITS)}, got {', '.join(unknown)}")
    with TemporaryDirectory() as folder, server(folder) as (address, process, start):
        load, begun = os.getloadavg()[0], time.perf_counter()
        used, own = processor_seconds(process), time.process_time()
        requests = asyncio.run(crowd(address, options))
        seconds = time.perf_counter() - begun
        used, own = processor_seconds(process) - used, time.process_time() - own
    print(f"The address was printed after {start:.2f} s.")
    rate = len(requests) / seconds
    print(f"{options.visitors} visitors for {seconds:.0f} s, {rate:.0f} requests/s.")
    print(
        f"Processors used: server {used / seconds:.2f}, this script {own / seconds:.2f};"
        f" load of the machine {load:.1f} before, {os.getloadavg()[0]:.1f} after."
    )
    early = [request for request in requests if request.begun < options.warm]
    later = [request for request in requests if request.begun >= options.warm]
    print(f"\nThe first {options.warm:g} s:\n\n{table(early)}\n\nAfterwards:\n\n{table(later)}")
    for fault in sorted({request.fault[:200] for request in requests if request.fault})[:5]:
        print(fault, file=sys.stderr)


if __name__ == "__main__":
    main()
