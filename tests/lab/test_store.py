"""What the lab writes: pictures and tables, whole or not at all."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import pytest

from bnmind.adaptive import ItemBank, RandomItem, Responses, simulate
from bnmind.errors import BnmindError
from bnmind.lab import (
    Comparison,
    compare,
    comparison_csv,
    plot_lengths,
    save_comparison,
    save_simulation,
    write_files,
)
from bnmind.mastermind import Board, Channel
from bnmind.strategies import Knuth, MapCode, RandomCode


@pytest.fixture(scope="module")
def comparison() -> Comparison:
    channel = Channel.false_reply(Board(3, 3), 0.3)
    return compare([MapCode(), RandomCode(), Knuth()], channel, games=300)


def test_the_table_reads_back(comparison: Comparison) -> None:
    rows = list(csv.DictReader(io.StringIO(comparison_csv(comparison))))
    assert list(rows[0]) == list(comparison.frame.columns)
    assert len(rows) == 900
    assert [int(row["guesses"]) for row in rows] == [row.guesses for row in comparison.rows]
    assert {row["won"] for row in rows} == {"True"}


def test_the_picture_shows_every_strategy(comparison: Comparison) -> None:
    figure = plot_lengths(comparison)
    (axes,) = figure.axes
    legend = axes.get_legend()
    assert legend is not None
    labels = [text.get_text() for text in legend.get_texts()]
    for label, summary in zip(labels, comparison.summaries, strict=True):
        assert label == f"{summary.strategy}  {summary.mean:.2f} ± {summary.standard_error:.2f}"
    heights = [patch.get_height() for patch in axes.patches]  # type: ignore[attr-defined]
    assert sum(heights) == pytest.approx(300)  # 100 % each
    assert axes.get_xlabel() == "guesses"
    ticks = [tick.get_text() for tick in axes.get_xticklabels()]
    longest = max(row.guesses for row in comparison.rows)
    assert ticks[-1].endswith("+") == (int(ticks[-1].rstrip("+")) < longest)


def test_a_single_game_can_be_drawn() -> None:
    figure = plot_lengths(compare([Knuth()], Channel.exact(Board(2, 2)), games=1))
    assert figure.axes[0].get_title(loc="left") == "Mastermind 2x2, 1 game\nEvery reply is true"


def test_pictures_say_the_noise_in_words() -> None:
    games = compare([Knuth()], Channel.false_reply(Board(2, 2), 0.2), games=2)
    title = plot_lengths(games).axes[0].get_title(loc="left")
    assert title.split("\n")[1] == "With probability 0.2, a random reply replaces the true one"
    assert "With probability 0.2, a random reply" in games._repr_html_()


def test_files_are_written_together(comparison: Comparison, tmp_path: Path) -> None:
    directory = tmp_path / "a" / "b"
    written = save_comparison(comparison, directory)
    assert sorted(directory.iterdir()) == sorted(written)
    assert (directory / "games.csv").read_text() == comparison_csv(comparison)
    for name in ("game-lengths.png", "differences.png"):
        assert (directory / name).read_bytes().startswith(b"\x89PNG")


def test_nothing_is_half_written(tmp_path: Path) -> None:
    (tmp_path / "first").write_text("old")
    with pytest.raises(BnmindError, match=r"cannot write .*no/second"):
        write_files(tmp_path, {"first": b"new", "no/second": b"new"})
    assert [path.name for path in tmp_path.iterdir()] == ["first"]
    assert (tmp_path / "first").read_text() == "old"
    with pytest.raises(BnmindError, match=r"cannot write .*first"):
        write_files(tmp_path / "first", {"x": b""})


def test_comparisons_and_simulations_share_a_directory(
    comparison: Comparison, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in ("mastermind.compare", "simulations"):
        monkeypatch.setattr(f"bnmind.lab.{module}.png", lambda figure: b"")
        monkeypatch.setattr(f"bnmind.lab.{module}.svg", lambda figure: b"")
    bank = ItemBank.from_qmatrix([[1], [1]], guess=0.2, slip=0.1)
    tests = simulate(bank, Responses.drawn(bank, 5, seed=1), {"random": RandomItem()})
    written = (
        *save_comparison(comparison, tmp_path, vector=True),
        *save_simulation(tests, tmp_path, vector=True),
    )
    stems = {path.stem for path in written if path.suffix == ".png"}
    assert stems == {path.stem for path in written if path.suffix == ".svg"}
    assert sorted(written) == sorted(tmp_path.iterdir())
    assert len(set(written)) == len(written)


def test_directories_of_a_failed_write_are_removed(tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    with pytest.raises(BnmindError, match="no/second"):
        write_files(tmp_path / "there" / "a" / "b", {"first": b"new", "no/second": b"new"})
    assert list(tmp_path.rglob("*")) == [tmp_path / "there"]
