"""Noise as text and as a file."""

from __future__ import annotations

import tracemalloc
from pathlib import Path

import numpy as np
import pytest

from bnmind.errors import InvalidArgumentError
from bnmind.mastermind import Board, Channel, Reply, parse_noise

FOUR_SIX = Board(4, 6)
TINY = Board(1, 2)


@pytest.mark.parametrize(
    ("text", "channel"),
    [
        ("exact", Channel.exact(FOUR_SIX)),
        ("false:0.2", Channel.false_reply(FOUR_SIX, 0.2)),
        (" false:.2 ", Channel.false_reply(FOUR_SIX, 0.2)),
        ("false:1", Channel.false_reply(FOUR_SIX, 1)),
        ("independent:0", Channel.independent_error(FOUR_SIX, 0)),
        ("independent:1e-3", Channel.independent_error(FOUR_SIX, 0.001)),
    ],
)
def test_noise(text: str, channel: Channel) -> None:
    got = parse_noise(FOUR_SIX, text)
    assert (got.board, got.reports, got.name) == (FOUR_SIX, channel.reports, channel.name)
    assert np.array_equal(got.matrix, channel.matrix)
    assert not got.ends
    # The name is itself a way to write the channel.
    assert np.array_equal(parse_noise(FOUR_SIX, got.name).matrix, channel.matrix)


@pytest.mark.parametrize(
    ("text", "kind", "message"),
    [
        ("", InvalidArgumentError, "expected noise as exact, false:P, independent:P or file:PATH"),
        ("flase:0.2", InvalidArgumentError, "got 'flase:0.2'"),
        ("false", InvalidArgumentError, "got 'false'"),
        ("false:", InvalidArgumentError, "got 'false:'"),
        ("file:", InvalidArgumentError, "got 'file:'"),
        ("exact:0", InvalidArgumentError, "got 'exact:0'"),
        ("false:lots", InvalidArgumentError, "a probability in [0, 1] after false:, got 'lots'"),
        ("false:1.5", InvalidArgumentError, "expected a probability in [0, 1], got 1.5"),
        ("independent:-1", InvalidArgumentError, "expected a probability in [0, 1], got -1.0"),
        ("false:nan", InvalidArgumentError, "expected a probability in [0, 1], got nan"),
        ("file:nowhere.csv", InvalidArgumentError, "cannot read nowhere.csv (No such file"),
        ("file:.", InvalidArgumentError, "cannot read . (Is a directory)"),
    ],
)
def test_text_that_is_no_noise(text: str, kind: type[Exception], message: str) -> None:
    with pytest.raises(kind) as caught:
        parse_noise(FOUR_SIX, text)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_file_of_counts(tmp_path: Path) -> None:
    path = tmp_path / "counts.csv"
    path.write_text(
        "\ufefftrue, reported, count\n0b0w, 0b0w, 6\n0b0w,0b0w,1\n\n0b0w,1b0w,1\n", encoding="utf-8"
    )
    channel = parse_noise(TINY, f"file:{path}")
    expected = Channel.from_counts(
        TINY, {(Reply(0, 0), Reply(0, 0)): 7, (Reply(0, 0), Reply(1, 0)): 1}
    )
    np.testing.assert_allclose(channel.matrix, expected.matrix, rtol=1e-15)
    assert channel.name == f"file:{path}"


def test_file_of_probabilities(tmp_path: Path) -> None:
    path = tmp_path / "noise.csv"
    path.write_text(
        'true,reported,probability\n0b0w,0b0w,0.75\n0b0w,0b1w,.25\n"1,0",1b0w,1\n', encoding="utf-8"
    )
    channel = parse_noise(TINY, f"file:{path}")
    assert channel.reports == (Reply(0, 0), Reply(0, 1), Reply(1, 0))
    assert channel.matrix.tolist() == [[0.75, 0.25, 0.0], [0.0, 0.0, 1.0]]


@pytest.mark.parametrize(
    ("content", "kind", "message"),
    [
        ("", InvalidArgumentError, "got nothing"),
        ("true,reported\n", InvalidArgumentError, "expected the columns true, reported, and count"),
        ("true,reported,count\n0b0w,0b0w\n", InvalidArgumentError, "three values in line 2"),
        ("true,reported,count\n0b0w,0b0w,x\n", InvalidArgumentError, "a number in line 2"),
        ("true,reported,count\n0b0w,9b0w,1\n", InvalidArgumentError, "at most 1 black"),
        ("true,reported,count\n0b0w,zero,1\n", InvalidArgumentError, "'zero' in line 2 of"),
        ("true,reported,count\n0b1w,0b0w,1\n", InvalidArgumentError, "true replies of the board"),
        ("true,reported,count\n0b0w,0b0w,-3\n", InvalidArgumentError, "not negative, got -3"),
        ("true,reported,count\n0b0w,0b0w,nan\n", InvalidArgumentError, "not negative, got nan"),
        ("true,reported,probability\n0b0w,0b0w,1\n", InvalidArgumentError, "true reply 1b0w"),
        (
            "true,reported,probability\n0b0w,0b0w,.5\n0b0w,0b0w,.5\n1b0w,1b0w,1\n",
            InvalidArgumentError,
            "expected one probability of 0b0w given 0b0w",
        ),
        (
            "true,reported,probability\n0b0w,0b0w,1\n1b0w,1b0w,1.5\n",
            InvalidArgumentError,
            "expected probabilities in [0, 1] for true reply 1b0w, got 1.5",
        ),
    ],
)
def test_files_that_are_no_noise(
    tmp_path: Path, content: str, kind: type[Exception], message: str
) -> None:
    path = tmp_path / "noise.csv"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(kind) as caught:
        parse_noise(TINY, f"file:{path}")
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_file_that_is_no_text(tmp_path: Path) -> None:
    path = tmp_path / "noise.csv"
    path.write_bytes(b"\xff\xfe\x00true")
    with pytest.raises(InvalidArgumentError, match="is not UTF-8 text"):
        parse_noise(TINY, f"file:{path}")


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_any_ends_of_lines(tmp_path: Path, end: str) -> None:
    path = tmp_path / "noise.csv"
    path.write_bytes(f"true,reported,count{end}0b0w,0b0w,1{end}".encode())
    assert parse_noise(TINY, f"file:{path}").reports


def test_a_file_of_blank_lines_takes_little_more_memory_than_its_text(tmp_path: Path) -> None:
    path = tmp_path / "noise.csv"
    path.write_bytes(b"true,reported,count\n" + b"\n" * 100_000)
    parse_noise(TINY, f"file:{path}")  # imports
    tracemalloc.start()
    try:
        parse_noise(TINY, f"file:{path}")
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert most < 12 * path.stat().st_size


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("0.2", "false:0.2"),
        ("lie:0.1", "false:0.1"),
        ("false:20%", "false:0.2"),
        ("independent", "independent:0.2"),
        ("none", "exact"),
    ],
)
def test_noise_in_other_words_is_understood(text: str, meant: str) -> None:
    with pytest.raises(InvalidArgumentError, match=rf"did you mean {meant}\?"):
        parse_noise(Board(4, 6), text)
