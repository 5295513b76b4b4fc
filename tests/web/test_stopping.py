"""Work of visitors is stopped when nobody waits for it, and nothing else is harmed."""

from __future__ import annotations

import asyncio
import http.client
import itertools
import json
import os
import random
import socket
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from pathlib import Path

import pytest
from fastapi import Request

from bnmind import _jit
from bnmind.web.guard import WebSettings
from bnmind.web.networks import Model, NetworkQuestion, explanation, opened_network, posterior
from bnmind.web.work import GoneError, SlowError, Stoppable, StoppedError, Work
from tests.web.serving import serving
from tests.web.test_safety import _request, _Visitor


def endless(begun: threading.Event) -> None:
    begun.set()
    for _ in itertools.count():
        pass


def test_endless_work_is_stopped_and_its_locks_are_given_back() -> None:
    lock, begun = threading.Lock(), threading.Event()

    def holding() -> None:
        with lock:
            endless(begun)

    with ThreadPoolExecutor(1) as threads:
        work = Stoppable(holding)
        future = threads.submit(work)
        begun.wait(10)
        assert work.stop()
        assert work.stop()  # once more does no harm
        with pytest.raises(StoppedError):
            future.result(10)
        assert not lock.locked()
        assert threads.submit(Stoppable(lambda: 3)).result(10) == 3


def test_work_that_was_stopped_before_never_begins() -> None:
    begun = threading.Event()
    work = Stoppable(begun.set)
    assert work.stop()
    with pytest.raises(StoppedError):
        work()
    assert not begun.is_set()


def test_stopping_at_the_end_harms_nothing_that_follows() -> None:
    rng = random.Random(0)
    with ThreadPoolExecutor(1) as threads:
        for _ in range(200):
            work = Stoppable(lambda: sum(range(20_000)))
            future = threads.submit(work)
            until = time.perf_counter() + rng.random() * 1e-3
            while time.perf_counter() < until:
                pass
            work.stop()
            with suppress(StoppedError):
                assert future.result(10) == sum(range(20_000))
            assert threads.submit(sum, [1, 2]).result(10) == 3


LEFT = """
import sys
from concurrent.futures import ThreadPoolExecutor
from bnmind.web.work import Stoppable

with ThreadPoolExecutor(1) as threads:
    for number in range(100):
        work = Stoppable(lambda: sum(range(5000)))
        future = threads.submit(work)
        if number % 2:
            work.stop()
        future.exception()
sys.setprofile(lambda *_: None)
print([(lambda n: n)(n) for n in range(3)])
"""


def test_work_leaves_no_mark_in_the_interpreter() -> None:
    """An exception that was taken back once let profiled code run in place forever."""
    done = subprocess.run(
        [sys.executable, "-c", LEFT], timeout=60, check=True, capture_output=True, text=True
    )
    assert done.stdout == "[0, 1, 2]\n"


def test_compiling_is_not_interrupted() -> None:
    begun, release = threading.Event(), threading.Event()
    source = "def compile():\n    begun.set()\n    release.wait(10)\n    return 3"
    module = {"__name__": "numba.core.compiler", "begun": begun, "release": release}
    exec(source, module)
    compiling = module["compile"]
    assert callable(compiling)
    with ThreadPoolExecutor(1) as threads:
        work: Stoppable[object] = Stoppable(lambda: compiling())
        future = threads.submit(work)
        begun.wait(10)
        assert not work.stop()
        release.set()
        assert future.result(10) == 3


def test_a_kernel_is_finished_and_the_next_one_does_not_begin() -> None:
    begun, calls, is_released = threading.Event(), [], [False]

    def spin() -> None:
        calls.append(1)
        begun.set()
        while not is_released[0]:
            pass

    kernel = _jit.njit(spin)

    def twice() -> None:
        kernel()
        kernel()

    with ThreadPoolExecutor(1) as threads:
        work = Stoppable(partial(_jit.run_plainly, twice))
        future = threads.submit(work)
        begun.wait(10)
        assert not work.stop()
        is_released[0] = True
        with pytest.raises(StoppedError):
            future.result(10)
        assert work.stop()
        assert len(calls) == 1
        is_released[0] = True
        assert threads.submit(Stoppable(partial(_jit.run_plainly, spin))).result(10) is None


@pytest.mark.parametrize(
    ("visitor", "seconds", "fault"),
    [(_Visitor(left=True), 20.0, GoneError), (_Visitor(), 0.05, SlowError)],
)
def test_a_worker_is_free_again_when_its_visitor_has_left_or_the_time_is_up(
    visitor: _Visitor, seconds: float, fault: type[Exception]
) -> None:
    async def scene() -> None:
        work, begun = Work(WebSettings(workers=1, seconds=seconds)), threading.Event()
        visiting: Request = _request(visitor)
        with pytest.raises(fault):
            await work.run(visiting, lambda: endless(begun))
        assert await asyncio.wait_for(work.run(_request(_Visitor()), lambda: 3), 10) == 3
        work.close()

    asyncio.run(scene())


def test_a_server_that_stops_does_not_wait_for_its_work() -> None:
    async def scene() -> None:
        work, begun = Work(WebSettings(workers=1)), threading.Event()
        waiting = asyncio.ensure_future(work.run(_request(_Visitor()), lambda: endless(begun)))
        await asyncio.to_thread(begun.wait, 10)
        work.close()
        with pytest.raises(StoppedError):
            await asyncio.wait_for(waiting, 10)

    asyncio.run(scene())


def test_a_network_answers_as_before_after_questions_that_were_stopped() -> None:
    rng = random.Random(1)
    model = Model.model_validate({"name": "asia"})
    findings = ({"xray": "yes"}, {"dysp": "no"}, {"smoke": "yes"})
    questions = [NetworkQuestion(model=model, evidence=dict(one)) for one in findings]
    expected = [_shares(question) for question in questions]
    opened_network.cache_clear()
    with ThreadPoolExecutor(1) as threads:
        for number in range(30):
            work = Stoppable(partial(_shares, questions[number % 3]))
            future = threads.submit(work)
            time.sleep(rng.random() * 0.01)
            while not work.stop():
                time.sleep(0.001)
            future.exception(10)
    for question, shares in zip(questions, expected, strict=True):
        assert _shares(question) == pytest.approx(shares, abs=1e-12)


def _shares(question: NetworkQuestion) -> list[float]:
    answer = posterior(question)
    shares = [share for one in answer.variables for share in one.posterior]
    return [*shares, explanation(question).log_probability]


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="no processor times in /proc")
def test_a_real_server_stops_computing_when_the_connection_is_closed(tmp_path: Path) -> None:
    known = {f"v{i}": "a" for i in range(60, 90)}
    model = {"file": "dense.bif", "text": _dense(90)}
    body = json.dumps({"model": model, "evidence": known}).encode()
    head = (
        "POST /api/network/query HTTP/1.1\r\nHost: 127.0.0.1\r\n"
        f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    )
    with serving(tmp_path) as (address, process):
        with socket.create_connection(_place(address), timeout=2) as visitor:
            visitor.sendall(head.encode() + body)
            with pytest.raises(TimeoutError):  # it would take a dozen seconds
                visitor.recv(1)
        until = time.monotonic() + 6
        while _used_in_a_second(process.pid) > 0.1 and time.monotonic() < until:
            pass
        assert time.monotonic() < until
        with socket.create_connection(_place(address), timeout=20) as visitor:
            visitor.sendall(b"GET /api/network/models HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
            assert b" 200 " in visitor.recv(100)


@pytest.mark.slow
def test_heavy_networks_do_not_keep_others_waiting(tmp_path: Path) -> None:
    model = {"file": "dense.bif", "text": _dense(90)}
    heavy = {"model": model, "evidence": {f"v{i}": "a" for i in range(60, 90)}}
    # The server ends first: it is known to answer heavy questions, or to give them up.
    with ThreadPoolExecutor(6) as visitors, serving(tmp_path) as (address, _):

        def ask(question: object) -> int:
            visitor = http.client.HTTPConnection(*_place(address), timeout=60)
            head = {"Content-Type": "application/json"}
            visitor.request("POST", "/api/network/query", json.dumps(question), head)
            status = visitor.getresponse().status
            visitor.close()
            return status

        small = {"model": {"name": "asia"}, "evidence": {"xray": "yes"}}
        assert ask(small) == 200  # all is loaded
        waiting = [visitors.submit(ask, heavy) for _ in range(6)]
        time.sleep(1)
        begun = time.monotonic()
        for _ in range(5):
            assert ask(small) == 200
        took = time.monotonic() - begun
        assert not any(one.done() for one in waiting)
        assert took < 8  # without threads of their own, they would wait for all the others


def _dense(n_variables: int) -> str:
    """Return a network whose variables have three random parents each."""
    rng = random.Random(1)
    parts = ["network dense {}"]
    for i in range(n_variables):
        parts.append(f"variable v{i} {{ type discrete [ 2 ] {{ a, b }}; }}")
    for i in range(n_variables):
        parents = [f"v{j}" for j in sorted(rng.sample(range(i), min(i, 3)))]
        lines = []
        for states in itertools.product("ab", repeat=len(parents)):
            share = rng.random()
            told = f"({', '.join(states)})" if parents else "table"
            lines.append(f"{told} {share!r}, {1 - share!r};")
        given = f" | {', '.join(parents)}" if parents else ""
        parts.append(f"probability ( v{i}{given} ) {{ {' '.join(lines)} }}")
    return "\n".join(parts)


def _place(address: str) -> tuple[str, int]:
    return "127.0.0.1", int(address.rpartition(":")[2])


def _used_in_a_second(process: int) -> float:
    """Return the processor time that a process uses during a second, in seconds."""
    before = _used(process)
    time.sleep(1)
    return _used(process) - before


def _used(process: int) -> float:
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
