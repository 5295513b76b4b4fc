"""The one writer of files: whole or not at all, with the rights and the links of the old file."""

from __future__ import annotations

import os
import re
import resource
import shutil
import signal
import socket
import stat
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

import pytest

from bnmind import _files
from bnmind._files import (
    check_writable,
    check_writable_directory,
    create_file,
    temporary_name,
    write_file,
    write_files,
)
from bnmind.errors import ModelFileError
from tests.command_line import ROOT

ROOT_USER = os.geteuid() == 0


def names(directory: Path) -> list[str]:
    return sorted(path.name for path in directory.iterdir())


@contextmanager
def umask(mask: int) -> Iterator[None]:
    before = os.umask(mask)
    try:
        yield
    finally:
        os.umask(before)


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_text_and_bytes_are_written_as_they_are(tmp_path: Path) -> None:
    place = tmp_path / "a.txt"
    write_file(place, "Hören\r\nund\n")
    assert place.read_bytes() == "Hören\r\nund\n".encode()
    write_file(str(place), b"\x00\xff")
    assert place.read_bytes() == b"\x00\xff"
    assert names(tmp_path) == ["a.txt"]


def test_a_file_keeps_its_mode_and_a_new_one_has_that_of_the_umask(tmp_path: Path) -> None:
    secret, new = tmp_path / "secret", tmp_path / "new"
    secret.write_text("old")
    secret.chmod(0o600)
    shared = tmp_path / "shared"
    shared.write_text("old")
    shared.chmod(0o664)
    with umask(0o022):
        for place in (secret, new, shared):
            write_file(place, "new")
    assert [oct(mode(place)) for place in (secret, new, shared)] == ["0o600", "0o644", "0o664"]
    with umask(0o077):
        write_file(tmp_path / "private", "new")
    assert mode(tmp_path / "private") == 0o600


def test_a_secret_file_is_secret_while_it_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    secret = tmp_path / "secret"
    secret.write_text("old")
    secret.chmod(0o600)
    seen: list[int] = []
    sync = os.fsync

    def look(handle: int) -> None:
        seen.extend(mode(path) for path in tmp_path.iterdir())
        sync(handle)

    monkeypatch.setattr(os, "fsync", look)
    write_file(secret, "new")
    assert set(seen) == {0o600}


def test_a_file_whose_rights_cannot_be_copied_is_for_its_owner_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(source: Path, target: Path) -> None:
        raise PermissionError(1, "not here")

    place = tmp_path / "a"
    place.write_text("old")
    place.chmod(0o644)
    monkeypatch.setattr(shutil, "copystat", refuse)
    write_file(place, "new")
    assert place.read_text() == "new"
    assert mode(place) == 0o600


@pytest.mark.skipif(not ROOT_USER, reason="only root gives files away")
def test_a_file_keeps_its_owner(tmp_path: Path) -> None:
    place = tmp_path / "a"
    place.write_text("old")
    os.chown(place, 12, 34)
    write_file(place, "new")
    assert (place.stat().st_uid, place.stat().st_gid) == (12, 34)


def test_a_link_stays_and_its_target_is_replaced(tmp_path: Path) -> None:
    (tmp_path / "far").mkdir()
    target = tmp_path / "far" / "target"
    target.write_text("old")
    link, second = tmp_path / "link", tmp_path / "second"
    link.symlink_to(Path("far") / "target")
    second.symlink_to("link")
    write_file(second, "new")
    assert second.is_symlink()
    assert link.is_symlink()
    assert not target.is_symlink()
    assert target.read_text() == "new"
    dangling = tmp_path / "dangling"
    dangling.symlink_to("far/born")
    write_file(dangling, "new")
    assert dangling.is_symlink()
    assert (tmp_path / "far" / "born").read_text() == "new"
    assert names(tmp_path / "far") == ["born", "target"]


def test_the_content_is_on_the_disk_before_it_takes_its_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    happened = []
    sync, put = os.fsync, os.replace

    def synced(handle: int) -> None:
        happened.append("directory" if stat.S_ISDIR(os.fstat(handle).st_mode) else "file")
        sync(handle)

    def replaced(source: Path, target: Path) -> None:
        happened.append("in place")
        put(source, target)

    monkeypatch.setattr(os, "fsync", synced)
    monkeypatch.setattr(os, "replace", replaced)
    write_file(tmp_path / "a", "new")
    assert happened == ["file", "in place", "directory"]


def test_several_files_are_written_or_none(tmp_path: Path) -> None:
    first, second, third = (tmp_path / name for name in ("first", "second", "third"))
    first.write_text("old")
    first.chmod(0o600)
    third.mkdir()
    with pytest.raises(ModelFileError, match=r"third \(Is a directory\)"):
        write_files({first: "new", second: "new", third: "new"})
    assert names(tmp_path) == ["first", "third"]
    assert first.read_text() == "old"
    write_files({first: "new", second: b"new"})
    assert (first.read_text(), second.read_text()) == ("new", "new")
    assert names(tmp_path) == ["first", "second", "third"]


@pytest.mark.parametrize("fails", [0, 1, 2])
@pytest.mark.parametrize("kind", [OSError, KeyboardInterrupt])
@pytest.mark.parametrize("links", [True, False])
def test_what_took_its_place_is_put_back(
    fails: int,
    kind: type[BaseException],
    links: bool,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    places = [tmp_path / name for name in "abc"]
    places[0].write_text("old a")
    places[2].write_text("old c")
    put = os.replace

    def replaced(source: Path, target: Path) -> None:
        if target == places[fails] and "old" not in source.read_text():
            raise kind(5, "planned")
        put(source, target)

    def no_links(source: Path, target: Path) -> None:
        raise PermissionError(1, "no hard links here")

    monkeypatch.setattr(os, "replace", replaced)
    if not links:
        monkeypatch.setattr(os, "link", no_links)
    with pytest.raises((ModelFileError, KeyboardInterrupt)):
        write_files(dict.fromkeys(places, "new"))
    assert names(tmp_path) == ["a", "c"]
    assert [places[0].read_text(), places[2].read_text()] == ["old a", "old c"]


def test_of_many_that_create_a_file_one_succeeds(tmp_path: Path) -> None:
    place = tmp_path / "a"
    barrier = threading.Barrier(8)
    made = []

    def make(number: int) -> None:
        barrier.wait()
        if create_file(place, str(number)):
            made.append(number)

    threads = [threading.Thread(target=make, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [place.read_text()] == [str(number) for number in made]
    assert names(tmp_path) == ["a"]


def test_a_file_is_created_where_there_are_no_hard_links(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_links(source: Path, target: Path) -> None:
        raise PermissionError(1, "no hard links here")

    monkeypatch.setattr(os, "link", no_links)
    assert create_file(tmp_path / "a", "first")
    assert not create_file(tmp_path / "a", "second")
    assert (tmp_path / "a").read_text() == "first"
    assert names(tmp_path) == ["a"]


def test_a_pipe_is_written_to_as_it_is(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    received = []
    reader = threading.Thread(target=lambda: received.append(pipe.read_bytes()))
    reader.start()
    write_file(pipe, "through")
    reader.join()
    assert received == [b"through"]
    assert stat.S_ISFIFO(pipe.stat().st_mode)
    write_file("/dev/null", "gone")
    assert stat.S_ISCHR(os.stat("/dev/null").st_mode)


@pytest.mark.skipif(not Path("/dev/shm").is_dir(), reason="there is no such directory")
def test_files_in_memory_are_replaced_like_all_others() -> None:
    with tempfile.TemporaryDirectory(dir="/dev/shm") as directory:
        place = Path(directory) / "a"
        write_file(place, "old")
        before = place.stat().st_ino
        write_file(place, "new")
        assert place.stat().st_ino != before
        assert names(Path(directory)) == ["a"]


@pytest.mark.parametrize("to_file", [True, False])
def test_standard_output_can_be_named(to_file: bool, tmp_path: Path) -> None:
    code = (
        "from bnmind._files import check_writable, write_file\n"
        "check_writable('/dev/stdout')\n"
        "print('before', flush=True)\n"
        "write_file('/dev/stdout', 'within\\n')\n"
    )
    with (tmp_path / "out").open("w+") as out:
        done = subprocess.run(
            [sys.executable, "-c", code],
            stdout=out if to_file else subprocess.PIPE,
            text=True,
            check=True,
            cwd=ROOT,
        )
        out.seek(0)
        assert "within" in (out.read() if to_file else done.stdout)
    assert names(tmp_path) == ["out"]


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("missing/a", "No such file"),
        ("directory", "Is a directory"),
        ("file/a", "Not a directory"),
        ("circle", "symbolic links"),
        ("n" * 300, "too long"),
        ("a\0b", "null"),
        ("", "Is a directory"),
    ],
)
def test_where_nothing_can_be_written(name: str, reason: str, tmp_path: Path) -> None:
    (tmp_path / "directory").mkdir()
    (tmp_path / "file").write_text("old")
    (tmp_path / "circle").symlink_to("circle")
    before = names(tmp_path)
    place = str(tmp_path / name)
    for attempt in (
        lambda: write_file(place, "new"),
        lambda: create_file(place, "new"),
        lambda: check_writable(place),
    ):
        with pytest.raises(ModelFileError, match=reason) as caught:
            attempt()
        assert isinstance(caught.value.value, str)
        assert os.path.basename(place) in caught.value.value
    assert names(tmp_path) == before
    assert (tmp_path / "file").read_text() == "old"


def test_text_that_utf8_cannot_hold(tmp_path: Path) -> None:
    place = tmp_path / "a"
    place.write_text("old")
    with pytest.raises(ModelFileError, match=r"a contains '\\udcff'"):
        write_file(place, "new \udcff")
    assert place.read_text() == "old"


@pytest.mark.skipif(ROOT_USER, reason="root may write everything")
def test_what_may_only_be_read_is_not_replaced(tmp_path: Path) -> None:
    place = tmp_path / "a"
    place.write_text("old")
    place.chmod(0o400)
    with pytest.raises(ModelFileError, match="Permission denied"):
        write_file(place, "new")
    with pytest.raises(ModelFileError, match="Permission denied"):
        check_writable(place)
    tmp_path.chmod(0o500)
    for check in (check_writable, check_writable_directory):
        with pytest.raises(ModelFileError, match="Permission denied"):
            check(tmp_path / "b")
    tmp_path.chmod(0o700)


def test_a_directory_may_be_made_later(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("old")
    check_writable_directory(tmp_path)
    check_writable_directory(tmp_path / "a" / "b")
    assert names(tmp_path) == ["file"]
    for name in ("file", "file/a", "n" * 300, f"a/{'n' * 300}/b"):
        with pytest.raises(ModelFileError):
            check_writable_directory(tmp_path / name)


def test_a_killed_writer_leaves_the_old_file_and_the_next_one_sweeps(tmp_path: Path) -> None:
    place = tmp_path / "a"
    place.write_text("old")
    code = (
        "import os, signal, sys\n"
        "from bnmind._files import write_file\n"
        "os.fsync = lambda handle: os.kill(os.getpid(), signal.SIGKILL)\n"
        "write_file(sys.argv[1], 'new')\n"
    )
    done = subprocess.run([sys.executable, "-c", code, str(place)], cwd=ROOT, check=False)
    assert done.returncode == -signal.SIGKILL
    assert place.read_text() == "old"
    (left,) = (path for path in tmp_path.iterdir() if path != place)
    assert left.name.startswith(".bnmind-")
    write_file(tmp_path / "b", "new")
    assert names(tmp_path) == ["a", "b"]


def test_only_what_is_clearly_stale_is_swept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = temporary_name(tmp_path)  # of a process that runs
    foreign = tmp_path / ".bnmind-00000000-1-00000000.tmp"
    old = tmp_path / ".bnmind-00000000-2-00000000.tmp"
    others = [tmp_path / name for name in (".bnmind-x.tmp", "a.tmp", ".bnmind", ".b.tmp")]
    for path in (own, foreign, old, *others):
        path.write_text("")
        if path != own and path != foreign:
            os.utime(path, (0, 0))
    write_file(tmp_path / "a", "new")
    assert set(names(tmp_path)) == {"a", *(path.name for path in (own, foreign, *others))}
    # A number that no process has, on this machine and on another one.
    gone = Path(str(own).replace(f"-{os.getpid()}-", "-999999999-"))
    gone.write_text("")
    monkeypatch.setattr(socket, "gethostname", lambda: "elsewhere")
    write_file(tmp_path / "a", "new")
    assert gone.exists()
    monkeypatch.undo()
    write_file(tmp_path / "a", "new")
    assert not gone.exists()
    assert own.exists()
    later = time.time() + 25 * 60 * 60
    monkeypatch.setattr(time, "time", lambda: later)
    write_file(tmp_path / "a", "new")
    # What this process is writing stays, even if the clock has been put forward meanwhile.
    assert set(names(tmp_path)) == {"a", *(path.name for path in (own, *others))}


def test_the_name_may_be_as_long_as_names_can_be(tmp_path: Path) -> None:
    place = tmp_path / ("n" * 255)
    write_file(place, "new")
    assert place.read_text() == "new"


def test_a_full_disk_leaves_the_old_file(tmp_path: Path) -> None:
    place = tmp_path / "a"
    place.write_text("old")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, before[1]))
    try:
        with pytest.raises(ModelFileError, match=r"/a \(File too large\)"):
            write_file(place, "n" * 10_000)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert place.read_text() == "old"
    assert names(tmp_path) == ["a"]


def test_the_functions_say_what_they_raise(tmp_path: Path) -> None:
    missing = tmp_path / "missing" / "a"

    def within(context: Callable[[str], AbstractContextManager[Any]]) -> None:
        with context(str(missing)):
            missing.stat()

    (tmp_path / "file").touch()
    attempts: dict[str, Callable[[], Any]] = {
        "check_writable": lambda: check_writable(missing),
        "check_writable_directory": lambda: check_writable_directory(tmp_path / "file"),
        "create_file": lambda: create_file(missing, "new"),
        "encoded": lambda: _files.encoded(missing, "\udcff"),
        "move": lambda: _files.move(missing, tmp_path / "b"),
        "naming": lambda: within(_files.naming),
        "parse_document": lambda: _files.parse_document("=", "bnmind-session", 1),
        "parse_json": lambda: _files.parse_json("{"),
        "read_bytes": lambda: _files.read_bytes(missing, most=1),
        "read_text": lambda: _files.read_text(missing, most=1),
        "real_place": lambda: _files.real_place(str(tmp_path)),
        "require_head": lambda: _files.require_head("", 1, "bnmind-session", [1]),
        "write_file": lambda: write_file(missing, "new"),
        "write_files": lambda: write_files({missing: "new"}),
        "writing": lambda: within(_files.writing),
    }
    functions = {
        name: one
        for name, one in vars(_files).items()
        if not name.startswith("_") and getattr(one, "__module__", "") == _files.__name__
    }
    named = {name for name, one in functions.items() if "ModelFileError" in (one.__doc__ or "")}
    assert named == {*attempts, "locked"} - {"real_place"}
    for name, attempt in attempts.items():
        with pytest.raises((ModelFileError, OSError)) as caught:
            attempt()
        kind = ModelFileError if caught.type is ModelFileError else OSError
        assert re.search(rf"\b{kind.__name__}\b", getattr(_files, name).__doc__), name
    assert not _files.is_stream(str(missing))
    _files.remove_directory(missing)
