"""The files that come with bnmind are listed, found and copied, and a wheel holds all of them."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import pytest

from bnmind.adaptive import QMatrix, Responses, read_bank, read_design
from bnmind.datasets import EXAMPLES, copy_examples, example_path, example_set, example_table
from bnmind.errors import InvalidArgumentError, ModelFileError, UnknownNameError
from tests.command_line import assert_one_line_error, run

ROOT = Path(__file__).parents[2]
MODELS = ROOT / "models"


def test_every_file_of_data_is_in_one_set() -> None:
    data = {
        path for path in MODELS.rglob("*") if path.is_file() and path.suffix not in (".py", ".md")
    }
    data = {path for path in data if "__pycache__" not in path.parts}
    listed = [one.path(file) for one in EXAMPLES.values() for file in one.files]
    assert set(listed) == data
    assert len(listed) == len(data)


def test_the_wheel_holds_every_set() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    shipped = project["tool"]["hatch"]["build"]["targets"]["wheel"]["force-include"]
    assert shipped == {source: f"bnmind/datasets/{source}" for source in shipped}
    kept = {path for source in shipped for path in files_of(ROOT / source)}
    assert {one.path(file) for one in EXAMPLES.values() for file in one.files} <= kept
    assert not {path for path in kept if path.suffix == ".py"}


def files_of(path: Path) -> set[Path]:
    return {path} if path.is_file() else set(path.iterdir())


def test_folders_are_described_in_the_readme() -> None:
    described = (MODELS / "README.md").read_text(encoding="utf-8")
    for name in EXAMPLES:
        assert name == "networks" or f"{name}/" in described


def test_files_are_found_by_name() -> None:
    bank = read_bank(example_path("banks/fractions.json"))
    design = read_design(example_path("designs/fractions.toml"), bank)
    assert design.bank.item_names == bank.item_names
    assert example_set("time").path("days.csv").is_file()


@pytest.mark.parametrize(
    ("name", "close"),
    [("bank/fractions.json", "banks"), ("banks/fraction.json", "fractions.json")],
)
def test_an_unknown_name_is_reported_with_a_close_one(name: str, close: str) -> None:
    with pytest.raises(UnknownNameError, match=f"did you mean {close}"):
        example_path(name)


def test_a_name_has_two_parts() -> None:
    with pytest.raises(InvalidArgumentError, match=r"such as banks/fractions\.json"):
        example_path("banks")
    with pytest.raises(InvalidArgumentError, match="CSV"):
        example_table("banks/fractions.json")


def test_a_missing_folder_is_reported(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("bnmind.datasets._root", lambda: tmp_path)
    with pytest.raises(ModelFileError, match="install bnmind again"):
        example_path("banks/fractions.json")


def test_tables_are_data_frames() -> None:
    read = Responses.of(example_table("fractions-class/responses.csv"), group_column="class")
    assert len(read) == 249
    assert set(read.groups) == {f"6{letter}" for letter in "abcdefghij"}
    assert QMatrix.of(example_table("fractions-class/qmatrix.csv")).needs.shape == (20, 5)


def test_copies_are_made_once(tmp_path: Path) -> None:
    copies = copy_examples(tmp_path / "new", name="designs")
    assert copies == (tmp_path / "new" / "fractions.toml",)
    assert copies == copy_examples(tmp_path / "new", name="designs")
    copies[0].write_text("mine")
    with pytest.raises(ModelFileError, match=r"fractions\.toml exists already"):
        copy_examples(tmp_path / "new", name="designs")
    assert copies[0].read_text() == "mine"


def test_all_copies_are_where_the_documentation_has_them(tmp_path: Path) -> None:
    for copy in copy_examples(tmp_path):
        assert copy.read_bytes() == (ROOT / copy.relative_to(tmp_path)).read_bytes()


def test_a_place_that_cannot_be_is_reported(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(ModelFileError, match="cannot make the directory"):
        copy_examples(tmp_path / "file" / "inside", name="designs")


# --- The command ----------------------------------------------------------------------------------


def test_the_command_lists_and_copies(tmp_path: Path) -> None:
    assert "fractions-class" in run("examples").output
    assert "Source: simulated" in run("examples", "fractions-class").output
    place = tmp_path / "class"
    assert run("examples", "banks", "--copy", str(place)).output.startswith("Copied: 3 files in ")
    assert {path.name for path in place.iterdir()} == set(example_set("banks").files)


def test_the_command_prints_json() -> None:
    found = json.loads(run("examples", "designs", "--json").output)
    (only,) = found["sets"]
    assert only["files"] == {"fractions.toml": str(example_path("designs/fractions.toml"))}
    assert found["copied"] == []


def test_an_unknown_set_is_one_line() -> None:
    assert_one_line_error(run("examples", "bank"), "did you mean banks?")
