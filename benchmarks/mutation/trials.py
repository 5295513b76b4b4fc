"""Trials of mutants: a forked process imports a module with a fault and runs tests.

The parent process imports the large libraries once. No file is changed: the child replaces the
source of one module when it is imported.
"""

from __future__ import annotations

import contextlib
import os
import resource
import shutil
import signal
import sys
import time
import traceback
from importlib import import_module
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import CodeType

__all__ = ["preload", "trial"]

_LIBRARIES = (
    "hypothesis.extra.numpy", "networkx", "numba", "numpy", "pandas", "pgmpy.models", "pydantic",
    "pytest", "rich.table", "scipy.optimize", "scipy.special", "scipy.stats", "typer.testing",
    "xml.etree.ElementTree",
)  # fmt: skip
_MEMORY = 8 << 30
_BROKEN = 77


def preload() -> None:
    """Import the libraries that most tests use."""
    for name in _LIBRARIES:
        import_module(name)


def trial(module: Path, source: str, tests: list[str], log: Path, *, limit: float) -> str:
    """Run tests with a mutated module, and return killed, survived, timeout or error.

    Parameters
    ----------
    module
        The file whose source is replaced.
    source
        The source in its place.
    tests
        The names of the tests.
    log
        The file for the tests' output.
    limit
        The seconds after which the trial is ended; the mutant counts as killed then.
    """
    child = os.fork()
    if child == 0:
        os._exit(_run(module, source, tests, log))
    return _verdict(child, limit)


def _run(module: Path, source: str, tests: list[str], log: Path) -> int:
    """Run tests in this process, which is a child, and return pytest's exit code."""
    import pytest
    from hypothesis import configuration

    code = _BROKEN
    try:
        os.setsid()
        output = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        for stream in (1, 2):
            os.dup2(output, stream)
        resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
        # An example that failed with another fault is not tried again.
        configuration.set_hypothesis_home_dir(log.with_suffix(".examples"))
        shutil.rmtree(log.with_suffix(".examples"), ignore_errors=True)
        _replace(module, source)
        _rewrite_nothing()
        options = ["-x", "-q", "-n", "0", "-p", "no:cacheprovider", "-p", "no:benchmark"]
        options += ["-W", "ignore::pytest.PytestAssertRewriteWarning"]
        code = int(pytest.main([*options, "-o", f"addopts={_ADDED}", *tests]))
        sys.stdout.flush()
    except BaseException:
        os.write(2, traceback.format_exc().encode())
    return code


_ADDED = "--doctest-modules --doctest-glob=*.md --strict-markers"


def _replace(module: Path, source: str) -> None:
    """Let the import of a file read other source."""
    original = SourceFileLoader.get_code
    path = str(module)

    def get_code(self: SourceFileLoader, name: str) -> CodeType | None:
        if self.path == path:
            return compile(source, path, "exec", dont_inherit=True)
        return original(self, name)

    SourceFileLoader.get_code = get_code  # type: ignore[assignment,method-assign]
    from bnmind import _jit

    def keep(_path: Path) -> None:
        """Keep the machine code of the module without a fault."""

    _jit._sweep = keep  # type: ignore[assignment]


def _rewrite_nothing() -> None:
    """Let pytest import modules whose doctests are named, instead of reading their files itself."""
    from _pytest.assertion.rewrite import AssertionRewritingHook

    def never(_self: object, _name: str, _file: str, _state: object) -> bool:
        return False

    AssertionRewritingHook._should_rewrite = never  # type: ignore[assignment,method-assign]


def _verdict(child: int, limit: float) -> str:
    end = time.monotonic() + limit
    while time.monotonic() < end:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            code = os.waitstatus_to_exitcode(status)
            # 4: a test that is named is not there, as after old measurements of coverage.
            return {0: "survived", 4: "error", 5: "error", _BROKEN: "error"}.get(code, "killed")
        time.sleep(0.02)
    with contextlib.suppress(ProcessLookupError):
        os.killpg(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return "timeout"
