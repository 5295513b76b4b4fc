"""Machine code on disk: never stale, never needed, and never in the way."""

from __future__ import annotations

import importlib
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from types import FunctionType, SimpleNamespace
from typing import Any, NamedTuple, cast

import numba
import numpy as np
import pytest
from numba.core.caching import CompileResultCacheImpl

import bnmind
from bnmind._jit import KEPT_DAYS, MUST_SAVE, Kernel, KernelCache, content_of, njit
from tests.test_architecture import FILES, MODULES

ROOT = Path(bnmind.__file__).parent.parent

CALLEE = """
from bnmind._jit import njit

@njit
def step(x):
    return x + 1
"""
CALLER = """
from bnmind._jit import njit
from sums.callee import step
from sums.numbers import MOST

@njit
def steps(x):
    for _ in range(MOST):
        x = step(x)
    return x
"""

pytestmark = pytest.mark.skipif(bool(numba.config.DISABLE_JIT), reason="nothing is compiled")


class Package:
    """A package of two kernels; one calls the other, which is in another file."""

    def __init__(self, directory: Path) -> None:
        self.cache = directory / "cache"
        self.source = directory / "sums"
        self.source.mkdir()
        files = {"__init__": "", "callee": CALLEE, "caller": CALLER, "numbers": "MOST = 3\n"}
        for name, text in files.items():
            (self.source / f"{name}.py").write_text(text)

    def edit(self, name: str, before: str, after: str) -> None:
        """Replace some source."""
        path = self.source / f"{name}.py"
        text = path.read_text()
        assert text.count(before) == 1
        path.write_text(text.replace(before, after))

    def run(self) -> tuple[int, bool]:
        """Return what 3 steps from 10 give in a new process, and whether it had to compile."""
        self.forget()
        steps = cast(Kernel, importlib.import_module("sums.caller").steps)
        value = steps(10)
        return value, not steps._compiled.stats.cache_hits

    def forget(self) -> None:
        """Forget the modules, as a new process does not know them."""
        importlib.invalidate_caches()
        for name in [name for name in sys.modules if name.partition(".")[0] == "sums"]:
            del sys.modules[name]

    @property
    def files(self) -> list[Path]:
        """The files of the cache."""
        return sorted(path for path in self.cache.rglob("*") if path.is_file())


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Package]:
    """Return a package with a cache of its own."""
    monkeypatch.syspath_prepend(str(tmp_path))
    # Files are edited within the second that Python would take for no change.
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    made = Package(tmp_path)
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(made.cache))
    yield made
    made.forget()


def run(statement: str, **environment: str) -> str:
    """Return what a statement prints in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-P", "-W", "error", "-c", statement],  # not from the working directory
        capture_output=True,
        text=True,
        env={**os.environ, **environment},
    )
    assert done.stderr == ""
    return done.stdout.strip()


def test_a_kernel_is_compiled_once(package: Package) -> None:
    assert package.run() == (13, True)
    assert package.run() == (13, False)
    assert [path.name.rsplit("-", 2)[0] for path in package.files] == [
        f"sums.callee.step.{sys.implementation.cache_tag}",
        f"sums.caller.steps.{sys.implementation.cache_tag}",
    ]


@pytest.mark.parametrize(
    ("name", "before", "after", "value"),
    [
        ("callee", "x + 1", "x + 2", 16),
        ("callee", "return x", "return -1 * x", -9),
        ("numbers", "3", "4", 14),
        ("caller", "x = step(x)", "x = step(step(x))", 16),
    ],
)
def test_code_of_yesterday_is_not_run(
    package: Package, name: str, before: str, after: str, value: int
) -> None:
    assert package.run() == (13, True)
    # Another version of Python shares the directory.
    others = [path.with_name(path.name.replace("cpython", "other")) for path in package.files]
    for path in others:
        path.write_bytes(b"")
    package.edit(name, before, after)
    assert package.run() == (value, True)
    assert package.run() == (value, False)
    # What was replaced is gone.
    assert len(package.files) == 4
    assert set(others) < set(package.files)


def test_comments_and_other_functions_do_not_matter(package: Package) -> None:
    assert package.run() == (13, True)
    package.edit("callee", "@njit", "OTHER = 1  # a comment\n\ndef f():\n    return OTHER\n\n@njit")
    assert package.run() == (13, False)


@pytest.mark.parametrize("damage", ["truncated", "empty", "one bit", "garbage", "another kernel's"])
def test_damaged_code_is_not_run(package: Package, damage: str) -> None:
    assert package.run() == (13, True)
    good = [path.read_bytes() for path in package.files]
    for path, content in zip(package.files, good, strict=True):
        middle = len(content) // 2
        made = {
            "truncated": content[:middle],
            "empty": b"",
            "one bit": content[:middle] + bytes([content[middle] ^ 1]) + content[middle + 1 :],
            "garbage": b"\x80\x04garbage" * 999,
            "another kernel's": good[0] if content == good[1] else good[1],
        }
        path.write_bytes(made[damage])
    assert package.run() == (13, True)
    # Put right again.
    assert package.run() == (13, False)


def test_code_that_cannot_be_loaded_is_compiled_again(
    package: Package, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert package.run() == (13, True)
    monkeypatch.setattr("bnmind._jit._read", lambda path: b"no pickle")
    assert package.run() == (13, True)


def test_without_a_place_for_code_it_is_compiled_in_memory(
    package: Package, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A read-only installation, and no home that could be written to.
    monkeypatch.setattr(CompileResultCacheImpl, "_locator_classes", [])
    monkeypatch.chdir(package.source)
    assert package.run() == (13, True)
    assert package.run() == (13, True)
    assert package.files == []
    assert list(package.source.rglob("*.bnk")) == []


@pytest.mark.parametrize("beside", [False, True])
def test_code_that_may_only_be_read_is_used(
    package: Package, beside: bool, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """As another user does, for whom root has compiled it."""
    if beside:
        monkeypatch.setattr(numba.config, "CACHE_DIR", "")
    folder = package.source / "__pycache__" if beside else package.cache
    assert package.run() == (13, True)
    before = sorted(folder.rglob("*.bnk"))
    assert len(before) == 2

    def refuse(**place: Any) -> Any:
        if Path(place["dir"]).is_relative_to(folder):
            raise PermissionError
        return tempfile.TemporaryFile(**place)

    monkeypatch.setattr("numba.core.caching.tempfile", SimpleNamespace(TemporaryFile=refuse))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "home"))
    assert package.run() == (13, False)
    before[0].unlink()
    before[1].unlink()
    assert package.run() == (13, True)  # and saved elsewhere
    assert list(folder.rglob("*.bnk")) == []
    assert package.run() == (13, False)


@pytest.mark.skipif(sys.platform == "win32", reason="there is no such limit")
@pytest.mark.parametrize("fault", ["a file", "a full disk"])
def test_code_that_must_be_saved_and_cannot_be_is_an_error(package: Package, fault: str) -> None:
    if fault == "a file":
        package.cache.write_text("")
    most = "1000, 1000" if fault == "a full disk" else "10**9, 10**9"
    statement = f"""
import resource; resource.setrlimit(resource.RLIMIT_FSIZE, ({most}))
from bnmind.errors import ModelFileError
from sums.caller import steps
try:
    steps(10)
except ModelFileError as error:
    print(error)
"""
    paths = {"PYTHONPATH": f"{package.source.parent}{os.pathsep}{ROOT}", MUST_SAVE: "1"}
    told = run(statement, NUMBA_CACHE_DIR=str(package.cache), **paths)
    assert told.startswith(f"cannot write {package.cache}")
    assert ("File too large" in told) == (fault == "a full disk")


def test_a_cache_directory_that_cannot_be_made_is_no_error(
    package: Package, monkeypatch: pytest.MonkeyPatch
) -> None:
    package.cache.write_text("a file")
    # numba would take other places: here there is only this one.
    locators = CompileResultCacheImpl._locator_classes
    monkeypatch.setattr(CompileResultCacheImpl, "_locator_classes", locators[:1])
    assert package.run() == (13, True)


def test_a_directory_that_vanishes_is_made_again(package: Package) -> None:
    assert package.run() == (13, True)
    kernel = cast(Kernel, importlib.import_module("sums.caller").steps)
    shutil.rmtree(package.cache)
    assert kernel(10.0) == 13.0  # of other types, and so compiled
    assert len(package.files) == 2


@pytest.mark.skipif(sys.platform == "win32", reason="there is no such limit")
def test_a_full_disk_is_no_error(package: Package) -> None:
    statement = (
        "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))\n"
        "from sums.caller import steps\n"
        "print(steps(10), steps(10.0))"
    )
    paths = {"PYTHONPATH": f"{package.source.parent}{os.pathsep}{ROOT}"}
    assert run(statement, NUMBA_CACHE_DIR=str(package.cache), **paths) == "13 13.0"
    assert package.files == []


def test_code_that_nobody_uses_is_deleted(package: Package) -> None:
    package.run()
    step, steps = package.files
    recent, long_ago = (time.time() - (KEPT_DAYS + days) * 86_400 for days in (-1, 1))
    for name, when in {
        "other.f.cpython-311-0-0.bnk": recent,
        "other.g.cpython-311-0-0.bnk": long_ago,
        "somebody.else": long_ago,
    }.items():
        (step.parent / name).write_bytes(b"")
        os.utime(step.parent / name, (when, when))
    os.utime(step, (long_ago, long_ago))
    package.forget()
    importlib.import_module("sums.callee").step(1)  # used, and so not old any more
    steps.unlink()
    assert package.run() == (13, True)
    assert {path.name for path in package.files} == {
        step.name,
        steps.name,
        "other.f.cpython-311-0-0.bnk",
        "somebody.else",
    }


def kernels() -> list[Kernel]:
    """Return all kernels of the package."""
    found: list[Kernel] = []
    for path, name in zip(FILES, MODULES, strict=True):
        if "@njit" in path.read_text(encoding="utf-8") and not path.name.startswith("_jit"):
            module = importlib.import_module(name)
            found += [
                value
                for value in vars(module).values()
                if isinstance(value, Kernel) and value.function.__module__ == name
            ]
    return found


def test_the_content_of_every_kernel_is_known() -> None:
    contents = [content_of(kernel) for kernel in kernels()]
    assert None not in contents
    assert len(set(contents)) == len(contents) > 60


def test_contents_are_the_same_in_every_process() -> None:
    statement = (
        "from bnmind._jit import content_of\n"
        "from bnmind.strategies.best_guess import best_guess\n"
        "print(content_of(best_guess))"
    )
    assert len({run(statement, PYTHONHASHSEED=seed) for seed in ("1", "2")}) == 1


class Pair(NamedTuple):
    first: int
    second: int


def content(source: str, **names: Any) -> str | None:
    """Return the content of a kernel of some source."""
    scope: dict[str, Any] = {"__name__": "elsewhere", **names}
    exec(f"def kernel(x):\n    return {source}", scope)
    return content_of(cast(Kernel, njit(cast(FunctionType, scope["kernel"]))))


def test_content_tells_values_apart() -> None:
    values: list[Any] = [
        1,
        True,
        1.0,
        2,
        "1",
        None,
        (1, 2),
        (2, 1),
        np.int64(1),
        np.uint64(1),
        np.array([1, 2]),
        np.array([[1, 2]]),
        np.array([1, 3]),
        np.array([1.0, 2.0]),
        Pair,
        Pair(1, 2),
        np,
        os,
        min,
        np.sqrt,
        np.uint64,
    ]
    found = [content("a + x", a=value) for value in values]
    assert None not in found
    assert len(set(found)) == len(found)
    assert found == [content("a + x", a=value) for value in values]
    assert len({content(text, a=1) for text in ("a + x", "a - x", "x + a", "a + 1", "a + 2")}) == 5


def test_what_has_no_lasting_description_is_not_kept() -> None:
    assert content("a + x", a=object()) is None
    assert content("a + x", a=np.array([object()])) is None
    # Of a module of its own package a kernel may use anything.
    assert content("a + x", a=bnmind, __name__="bnmind.somewhere") is None
    assert content("a + x", a=bnmind) is not None


def test_where_code_is_kept_is_numbas_choice(package: Package) -> None:
    path = KernelCache(kernels()[0]).cache_path
    assert path is not None
    assert Path(path).parent == package.cache
