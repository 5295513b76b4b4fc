#!/usr/bin/env python3
"""Build the package, install it without anything else of the repository, and try it.

Usage: ``python .ci/smoke.py [--clean]``, with ``.[release]`` and the extras installed.

The source distribution is built, and the wheel from it; the wheel from the repository must be the
same. The wheel is installed into a new environment that has nothing but what the wheel requires,
lent from this environment. There, in an empty directory, commands of all kinds run. ``--clean``
installs the requirements with pip instead, as users do.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import time
import urllib.request
import zipfile
from collections.abc import Iterable, Sequence
from email.parser import BytesParser
from importlib.metadata import distribution
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory

import build
import readme_renderer.markdown
from packaging.requirements import Requirement

ROOT = Path(__file__).resolve().parents[1]
SCRIPT = """
import bnmind
from bnmind.adaptive import Design, MinimalEntropy, Session, read_bank
from bnmind.datasets import EXAMPLES, example_path, example_table
assert bnmind.__version__ == {version!r}, bnmind.__version__
assert "site-packages" in bnmind.__file__, bnmind.__file__
assert all(one.files for one in EXAMPLES.values())
assert len(example_table("fractions-class/responses.csv")) == 250
session = Session.start(Design(read_bank(example_path("banks/fractions.json")), MinimalEntropy()))
print(session.next_item())
"""
COMMANDS: Sequence[tuple[str, str, str]] = (
    # (the command, what is typed, a part of what it prints)
    ("--version", "", "bnmind {version}"),
    ("--help", "", "Test people:"),
    ("examples --copy .", "", "Copied: "),
    (
        "learn models/fractions-class/responses.csv --qmatrix models/fractions-class/qmatrix.csv"
        " --out bank.json",
        "",
        "Written to bank.json",
    ),
    ("test bank.json --stop items:2 --session ann.json", "1\n0\n", "ann.json"),
    ("evaluate models/banks/fractions.json --stop items:2", "", "Exact"),
    ("query models/diagnosis/asia.xdsl --evidence smoke=yes --targets lung", "", "lung"),
    ("ask models/diagnosis/asia.xdsl --about lung --evidence dysp=yes --rank", "", "xray"),
    ("suggest --history 1123-1b1w --noise false:0.2", "", "Guess"),
    ("play --pegs 3 --colors 4 --seed 1", "q\n", "The code was"),
    ("network --stage 3", "", "clique"),
)
SUFFIXES = frozenset(
    f".{end}"
    for end in (
        *("bif", "css", "csv", "evid", "gz", "html", "js", "json", "md", "py", "pyi", "query"),
        *("svg", "toml", "typed", "uai", "xdsl"),
    )
)


def main() -> None:
    """Build, install, try."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--clean", action="store_true", help="install the requirements with pip")
    options = parser.parse_args()
    with TemporaryDirectory() as folder:
        work = Path(folder)
        wheel = _built(work)
        print(f"The wheel holds {_checked(wheel):,} files, the same from the source distribution.")
        _with_an_address(work)
        environment = _Environment(work / "environment", wheel)
        environment.install(clean=options.clean, extra="")
        empty = work / "empty"
        empty.mkdir()
        for command, typed, expected in COMMANDS:
            environment.run(command, empty, typed=typed, expected=expected)
        environment.run("web", empty, expected='pip install "bnmind[web]"', code=2)
        environment.script(SCRIPT, empty)
        environment.install(clean=options.clean, extra="web")
        environment.serve(empty)
    print(f"{len(COMMANDS) + 3} passed, 0 failed")


def _built(work: Path) -> Path:
    """Return a wheel that is built from the source distribution, and is that of the repository."""
    build = [sys.executable, "-m", "build", "--no-isolation"]
    _call([*build, "--sdist", "--outdir", str(work), str(ROOT)])
    (archive,) = work.glob("*.tar.gz")
    shutil.unpack_archive(archive, work / "source")
    (source,) = (work / "source").iterdir()
    for place, into in ((source, "from-source"), (ROOT, "from-repository")):
        _call([*build, "--wheel", "--outdir", str(work / into), str(place)])
    (wheel,), (direct,) = (work / "from-source").iterdir(), (work / "from-repository").iterdir()
    if _contents(wheel) != _contents(direct):
        differing = dict(_contents(wheel).items() ^ _contents(direct).items())
        raise SystemExit(f"the two wheels differ in {sorted(differing)}")
    return wheel


def _with_an_address(work: Path) -> None:
    """Prepare the metadata as they will be once the repository has an address."""
    (source,) = (work / "source").iterdir()
    settings, home = source / "pyproject.toml", "https://code.example/bnmind"
    text = re.sub(
        r'^repository = ".*"$', f'repository = "{home}"', settings.read_text(), flags=re.M
    )
    settings.write_text(text)
    (source / "PKG-INFO").unlink()  # hatchling would take the URLs from there
    prepared = Path(build.ProjectBuilder(source).metadata_path(work / "metadata"))
    metadata = BytesParser().parsebytes((prepared / "METADATA").read_bytes())
    found = dict(one.split(", ") for one in metadata.get_all("Project-URL", ()))
    if not {"Homepage", "Documentation", "Source", "Issues", "Changelog"} <= set(found):
        raise SystemExit(f"project URLs are missing: {found}")
    links = re.findall(r"\]\(([^)\s]*)\)", str(metadata.get_payload()))
    if not links or not all(one.startswith("https://") for one in links):
        raise SystemExit(f"the README as on PyPI has links that are not absolute: {links}")
    print(f"With an address: {len(found)} project URLs, {len(links)} absolute links.")


def _contents(wheel: Path) -> dict[str, int]:
    with zipfile.ZipFile(wheel) as archive:
        return {one.filename: one.CRC for one in archive.infolist()}


def _checked(wheel: Path) -> int:
    """Return the number of files of a wheel; end if it lacks one, or holds a stray one."""
    names = set(_contents(wheel))
    info = f"{wheel.name.rsplit('-', 3)[0]}.dist-info"
    needed = {
        *("bnmind/py.typed", "bnmind/__init__.pyi", "bnmind/datasets/models/banks/fractions.json"),
        *(f"{info}/licenses/LICENSE", f"{info}/licenses/NOTICE", f"{info}/entry_points.txt"),
    }
    shipped = {name for name in names if not name.startswith(f"{info}/")}
    strays = [
        name
        for name in shipped
        if not name.startswith("bnmind/")
        or "tests" in PurePosixPath(name).parts
        or PurePosixPath(name).suffix not in SUFFIXES
        or not ({name, name.removeprefix("bnmind/datasets/")} & _known(names))
    ]
    if needed - names or strays:
        raise SystemExit(f"the wheel lacks {sorted(needed - names)}, and has {sorted(strays)}")
    text = _metadata(wheel).get_payload()
    if not (readme_renderer.markdown.render(str(text)) or "").strip():
        raise SystemExit("the README cannot be rendered as on PyPI")
    dead = re.findall(r"\]\((?!https?:)[^)]*\)", str(text))
    if dead:
        raise SystemExit(f"the README as on PyPI links to files that are not there: {dead}")
    return len(names)


def _known(otherwise: set[str]) -> set[str]:
    """Return the files of the repository; where there is no repository, all that are given."""
    listed = subprocess.run(
        ["git", "-C", str(ROOT), "ls-files"], capture_output=True, text=True, check=False
    )
    return set(listed.stdout.splitlines()) if listed.returncode == 0 else otherwise


def _metadata(wheel: Path):  # type: ignore[no-untyped-def]
    with zipfile.ZipFile(wheel) as archive:
        (name,) = (name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
        return BytesParser().parsebytes(archive.read(name))


class _Environment:
    """A new environment with the wheel in it."""

    def __init__(self, folder: Path, wheel: Path) -> None:
        _call([sys.executable, "-m", "venv", "--without-pip", str(folder)])
        self.wheel, self.python = wheel, folder / "bin" / "python"
        (self.packages,) = folder.glob("lib/python*/site-packages")
        self.version = _metadata(wheel)["Version"]
        # As a user's: nothing of the repository, and no setting of the tests.
        self.variables = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith(("NUMBA_", "PYTHON", "COVERAGE"))
        } | {"HOME": str(folder), "COLUMNS": "100"}

    def install(self, *, clean: bool, extra: str) -> None:
        """Install the wheel with an extra."""
        pip = [sys.executable, "-m", "pip", "--python", str(self.python), "install", "--quiet"]
        wanted = f"{self.wheel}[{extra}]" if extra else str(self.wheel)
        if clean:
            _call([*pip, wanted])
            return
        if not extra:
            _call([*pip, "--no-deps", wanted])
        required = (Requirement(one) for one in _metadata(self.wheel).get_all("Requires-Dist"))
        self._lend(one for one in required if _applies(one, extra))

    def _lend(self, required: Iterable[Requirement]) -> None:
        """Link to what is installed in this environment, with all that it requires."""
        left, met = list(required), set[str]()
        while left:
            one = left.pop()
            if one.name in met:
                continue
            met.add(one.name)
            found = distribution(one.name)
            more = (Requirement(text) for text in found.requires or ())
            wanted = ("", *one.extras)
            left += [other for other in more if any(_applies(other, extra) for extra in wanted)]
            tops = {path.parts[0] for path in found.files or () if path.parts[0] not in _OWN}
            for top in tops:
                link, place = self.packages / top, Path(str(found.locate_file(top)))
                if not link.exists() and place.exists():
                    link.symlink_to(place)

    def run(
        self, command: str, place: Path, *, typed: str = "", expected: str = "", code: int = 0
    ) -> None:
        """Run a command of bnmind, and look at its output and its exit code."""
        words = [word.replace("1123-1b1w", "1123 1b1w") for word in command.split()]
        began = time.monotonic()
        done = subprocess.run(
            [str(self.python.with_name("bnmind")), *words],
            input=typed,
            capture_output=True,
            text=True,
            cwd=place,
            env=self.variables,
            timeout=300,
            check=False,
        )
        said = done.stdout + done.stderr
        if done.returncode != code or expected.format(version=self.version) not in said:
            raise SystemExit(f"bnmind {command}: exit code {done.returncode}\n{said}")
        print(f"bnmind {command}: {time.monotonic() - began:.1f} s", flush=True)

    def script(self, text: str, place: Path) -> None:
        """Run a program."""
        program = text.format(version=self.version)
        _call([str(self.python), "-W", "error", "-c", program], cwd=place, env=self.variables)

    def serve(self, place: Path) -> None:
        """Start the pages, and read some."""
        server = subprocess.Popen(
            [str(self.python.with_name("bnmind")), "web", "--port", "0"],
            stdout=subprocess.PIPE,
            text=True,
            cwd=place,
            env=self.variables | {"PYTHONUNBUFFERED": "1"},
        )
        try:
            assert server.stdout is not None
            found = re.search(r"http://\S+", server.stdout.readline())
            if found is None:
                raise SystemExit("bnmind web has not said where it is")
            address = found[0].rstrip("/")
            start = _read(address)
            for linked in sorted(set(re.findall(rb'(?:href|src)="(/[^"?#]*)', start))):
                _read(address + linked.decode())
            members = json.loads(_read(f"{address}/api/openapi.json"))["paths"]
            print(f"bnmind web: {len(members)} paths of the API")
        finally:
            server.terminate()
            server.wait(20)


_OWN = ("..", "__pycache__", "bin")


def _applies(one: Requirement, extra: str) -> bool:
    return one.marker is None or one.marker.evaluate({"extra": extra})


def _read(address: str) -> bytes:
    with urllib.request.urlopen(address, timeout=30) as answer:
        return bytes(answer.read())


def _call(
    command: Sequence[str], cwd: Path | None = None, env: dict[str, str] | None = None
) -> None:
    done = subprocess.run(command, capture_output=True, text=True, cwd=cwd, env=env, check=False)
    if done.returncode:
        raise SystemExit(f"{' '.join(command)}\n{done.stdout}{done.stderr}")


if __name__ == "__main__":
    main()
