"""Directories of reproductions: nothing is computed twice, and nothing is lost."""

from __future__ import annotations

import json
import threading
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import pytest

from bnmind.errors import InvalidArgumentError, ModelFileError
from bnmind.lab.reproductions import (
    Figure,
    Part,
    Reproduction,
    Setting,
    Size,
    exact,
    read_run,
    reproduce_into,
)

NAMES = ("a", "b", "c")


def computed(directory: Path, name: str, seed: int) -> Sequence[Figure]:
    """Return a figure, and leave a mark; fail where a file forbids it."""
    if (directory / f"no {name}").exists():
        raise KeyboardInterrupt
    with (directory / "marks").open("a") as file:
        file.write(name)
    return (exact(name, seed, 0),)


def parts(directory: Path, setting: Setting) -> Sequence[Part]:
    return tuple(Part(name, partial(computed, directory, name, setting.seed)) for name in NAMES)


def reproduction(directory: Path, data: tuple[str, ...] = ()) -> Reproduction:
    return Reproduction(
        title="three figures",
        source="nobody",
        quick_minutes=1,
        minutes=1,
        parts=partial(parts, directory),
        data=data,
    )


def setting(seed: int = 0, size: Size = Size.QUICK) -> Setting:
    return Setting(size, seed, Path("missing"))


def marks(directory: Path) -> str:
    return (directory / "marks").read_text()


@pytest.mark.parametrize("stopped", NAMES)
@pytest.mark.parametrize("workers", [1, 2])
def test_an_interrupted_run_goes_on_where_it_stopped(
    stopped: str, workers: int, tmp_path: Path
) -> None:
    one, out = reproduction(tmp_path), tmp_path / "out"
    if workers == 1:
        (tmp_path / f"no {stopped}").touch()
        with pytest.raises(KeyboardInterrupt):
            reproduce_into(out, "x", one, setting())
        if stopped != "a":
            run = read_run(out / "x.json")
            assert not run.complete
            assert [part.name for part in run.parts] == list("ab"[: NAMES.index(stopped)])
        (tmp_path / f"no {stopped}").unlink()
    seen: list[tuple[int, int]] = []
    whole = reproduce_into(
        out, "x", one, setting(), workers=workers, report=lambda *n: seen.append(n)
    )
    assert whole.complete
    assert [figure.name for figure in whole.figures] == list(NAMES)
    assert "".join(sorted(marks(tmp_path))) == "abc"
    left = 3 if workers == 2 else 3 - NAMES.index(stopped)
    assert seen == [(number, left) for number in range(1, left + 1)]
    assert read_run(out / "x.json") == whole
    assert reproduce_into(out, "x", one, setting()) == whole
    assert len(marks(tmp_path)) == 3
    assert len((out / "x.csv").read_text().splitlines()) == 4
    (out / "x.csv").unlink()
    reproduce_into(out, "x", one, setting())
    assert len((out / "x.csv").read_text().splitlines()) == 4


def test_results_of_another_run_are_kept_under_another_name(tmp_path: Path) -> None:
    one = reproduction(tmp_path)
    first = reproduce_into(tmp_path, "x", one, setting())
    second = reproduce_into(tmp_path, "x", one, setting(1))
    assert (second.seed, second.set_aside) == (1, f"x.{first.version}-quick-0.json")
    assert read_run(tmp_path / second.set_aside) == first
    third = reproduce_into(tmp_path, "x", one, setting(1, Size.FULL))
    assert third.set_aside == f"x.{first.version}-quick-1.json"
    assert marks(tmp_path) == "abc" * 3
    reproduce_into(tmp_path, "x", one, setting())
    fifth = reproduce_into(tmp_path, "x", one, setting(1))
    assert fifth.set_aside == f"x.{first.version}-quick-0-2.json"
    assert read_run(tmp_path / second.set_aside) == first


@pytest.mark.parametrize(
    "text", ["", "{", "[]", "null", '{"reproduction": 3}', "[" * 5000, '"\\ud800"']
)
def test_a_damaged_file_is_set_aside(text: str, tmp_path: Path) -> None:
    (tmp_path / "x.json").write_text(text)
    with pytest.raises(InvalidArgumentError, match="damaged"):
        read_run(tmp_path / "x.json")
    run = reproduce_into(tmp_path, "x", reproduction(tmp_path), setting())
    assert run.complete
    assert (tmp_path / run.set_aside).read_text() == text


def test_a_file_of_version_1_does_not_say_where_references_stand(tmp_path: Path) -> None:
    old = Path(__file__).parents[2] / "old_files" / "reproduction.json"
    run = read_run(old)
    assert run.form == 1
    assert (run.figures[0].reference, run.figures[0].standing) == (5, None)
    # It is not gone on with, as its verdicts follow other rules.
    (tmp_path / "x.json").write_bytes(old.read_bytes())
    again = reproduce_into(tmp_path, "x", reproduction(tmp_path), setting())
    assert again.set_aside == "x.0.1.0-quick-0.json"
    assert read_run(tmp_path / again.set_aside) == run


def test_a_file_with_a_wrong_figure_is_damaged(tmp_path: Path) -> None:
    reproduce_into(tmp_path, "x", reproduction(tmp_path), setting())
    record = json.loads((tmp_path / "x.json").read_text())
    record["parts"][0]["figures"][0]["ours"] = "many"
    (tmp_path / "x.json").write_text(json.dumps(record))
    assert "damaged" in reproduce_into(tmp_path, "x", reproduction(tmp_path), setting()).set_aside


def test_a_run_without_its_data_is_skipped(tmp_path: Path) -> None:
    one = reproduction(tmp_path, ("people",))
    run = reproduce_into(tmp_path / "out", "x", one, setting())
    assert (run.skipped, run.figures) == ("no data set people in missing", ())
    assert not (tmp_path / "out").exists()
    with pytest.raises(InvalidArgumentError, match="people"):
        one.run(setting())
    nowhere = Setting(Size.QUICK, 0, None)
    run = reproduce_into(tmp_path / "out", "x", one, nowhere)
    assert run.skipped == "no data set people; set BNMIND_DATA or --data"
    with pytest.raises(InvalidArgumentError, match="people; set BNMIND_DATA"):
        nowhere.data_set("people")


def test_results_of_other_data_are_kept_under_another_name(tmp_path: Path) -> None:
    one = reproduction(tmp_path, ("people",))
    runs = []
    for text in ("1", "2", "2"):
        (tmp_path / text / "people").mkdir(parents=True, exist_ok=True)
        (tmp_path / text / "people" / "answers.csv").write_text(text)
        data = Setting(Size.QUICK, 0, tmp_path / text)
        runs.append(reproduce_into(tmp_path / "out", "x", one, data))
    assert marks(tmp_path) == "abcabc"
    assert [bool(run.set_aside) for run in runs] == [False, True, False]
    assert runs[0].data != runs[1].data == runs[2].data


def test_two_runs_at_the_same_time_in_one_directory_are_refused(tmp_path: Path) -> None:
    started, end = threading.Event(), threading.Event()

    def waiting(setting: Setting) -> Sequence[Part]:
        started.set()
        end.wait(60)
        return parts(tmp_path, setting)

    slow = Reproduction(title="x", source="x", quick_minutes=1, minutes=1, parts=waiting)
    thread = threading.Thread(target=lambda: reproduce_into(tmp_path, "x", slow, setting()))
    thread.start()
    assert started.wait(60)
    try:
        with pytest.raises(ModelFileError, match="another program"):
            reproduce_into(tmp_path, "x", reproduction(tmp_path), setting())
    finally:
        end.set()
        thread.join()
    assert read_run(tmp_path / "x.json").complete
