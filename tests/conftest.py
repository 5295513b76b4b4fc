"""Settings shared by all tests."""

from __future__ import annotations

import gc
import signal

import pytest
from hypothesis import settings

from tests.data_sets import DATA, counted_absences
from tests.modes import UNCOMPILED

# The first call of a compiled kernel takes seconds, all others microseconds: no deadline.
# Each run draws other examples, so a few of them every day find what many would find at once.
settings.register_profile("bnmind", deadline=None, max_examples=30)
settings.register_profile("uncompiled", deadline=None, max_examples=10)
settings.register_profile("thorough", deadline=None, max_examples=300, print_blob=True)
settings.load_profile("uncompiled" if UNCOMPILED else "bnmind")

# Tests that run in the background ignore these signals, and so would the processes that they start
# and signal. A handler is not handed down to them.
for _number, _handler in (
    ("SIGINT", signal.default_int_handler),
    ("SIGQUIT", lambda *_: None),
    ("SIGHUP", lambda *_: None),
):
    _signal = getattr(signal, _number, None)  # some systems lack some
    if _signal is not None and signal.getsignal(_signal) is signal.SIG_IGN:
        signal.signal(_signal, _handler)


PROGRAMS = {"browser": "Chromium", "postgresql": "PostgreSQL"}
"""The programs that some tests need, by the marks of these tests."""


def pytest_configure(config: pytest.Config) -> None:
    """Name the marks of tests; look for no garbage while they are collected."""
    gc.disable()
    for name, program in PROGRAMS.items():
        config.addinivalue_line("markers", f"{name}: needs {program}; skipped where it is missing")
    config.addinivalue_line(
        "markers", "compiled: takes too long without compilation; left out if NUMBA_DISABLE_JIT=1"
    )


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Leave out what takes too long without compilation."""
    for item in items:
        if UNCOMPILED and item.get_closest_marker("compiled"):
            item.add_marker(pytest.mark.skip(reason="takes too long without compilation"))


def pytest_collection_finish() -> None:
    """Look for garbage only in what the tests make, and seldom in all of it.

    The modules and the tests are none. What thousands of tests leave takes long to search.
    """
    gc.freeze()
    young, middle, _ = gc.get_threshold()
    gc.set_threshold(young, middle, 200)
    gc.enable()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Name programs and data sets that were missing: no green run hides what it left out."""
    for line in needing_programs(terminalreporter):
        terminalreporter.line(line)
    skipped = terminalreporter.getreports("skipped")
    reasons = [r.longrepr[2] for r in skipped if isinstance(r.longrepr, tuple)]
    counts = counted_absences(reasons)
    if counts:
        terminalreporter.section("data sets that are not there")
        for name, count in sorted(counts.items()):
            tests = "1 test was" if count == 1 else f"{count} tests were"
            terminalreporter.line(f"{name}: {tests} skipped")
        terminalreporter.line(f"expected in {DATA}; BNMIND_DATA may name another directory")


def needing_programs(terminalreporter: pytest.TerminalReporter) -> list[str]:
    """Return how many tests that need a program ran, and how many were skipped."""
    lines = []
    for name, program in PROGRAMS.items():
        count = {
            # The report of a file that cannot be collected has no keywords.
            outcome: sum(
                name in getattr(report, "keywords", ())
                for report in terminalreporter.getreports(outcome)
            )
            for outcome in ("passed", "failed", "error", "skipped")
        }
        skipped = count.pop("skipped")
        if skipped or any(count.values()):
            lines.append(f"tests that need {program}: {sum(count.values())} ran, {skipped} skipped")
    return lines
