"""Noise channels and their names."""

from __future__ import annotations

import copy
import pickle
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bnmind.errors import InvalidArgumentError, TooLargeError
from bnmind.mastermind import Board, Channel, Reply, parse_noise
from tests.mastermind.generators import boards, channels, probabilities

# --- Channels: every kind, the revealed ending, and what is no channel ----------------------------


FOUR_SIX = Board(4, 6)
WIN = FOUR_SIX.winning


def entry(channel: Channel, true: Reply, reported: Reply) -> float:
    return float(channel.likelihood(reported)[channel.board.true_replies.index(true)])


@given(st.data(), boards(max_codes=10**9))
def test_every_channel_is_stochastic_and_fixed(data: st.DataObject, board: Board) -> None:
    channel = data.draw(channels(board))
    assert channel.matrix.shape == (len(board.true_replies), channel.n_outcomes)
    assert channel.matrix.min() >= 0
    np.testing.assert_allclose(channel.matrix.sum(axis=1), 1, rtol=0, atol=1e-15)
    assert channel.n_outcomes == len(channel.reports) + (channel.won_index is not None)
    for place, report in enumerate(channel.reports):
        assert channel.report_index(report) == place
        assert np.array_equal(channel.likelihood(report), channel.matrix[:, place])
    with pytest.raises(ValueError, match="read-only"):
        channel.matrix[0, 0] = 0.5
    for twin in (pickle.loads(pickle.dumps(channel)), copy.deepcopy(channel)):
        np.testing.assert_allclose(twin.matrix, channel.matrix, rtol=1e-15)
        assert not twin.matrix.flags.writeable
        assert (twin.board, twin.reports, twin.name) == (board, channel.reports, channel.name)


def test_the_channel_copies_its_array() -> None:
    matrix = np.eye(14)
    channel = Channel(board=FOUR_SIX, reports=FOUR_SIX.true_replies, matrix=matrix, name="mine")
    matrix[0] = 0.0
    assert channel.is_exact


def test_reports_may_be_pairs_of_numbers_in_any_list() -> None:
    pairs = [(black, white) for black, white in FOUR_SIX.true_replies]
    channel = Channel(board=FOUR_SIX, reports=pairs, matrix=np.eye(14), name="x")  # type: ignore[arg-type]
    assert channel.reports == FOUR_SIX.true_replies
    assert isinstance(channel.reports, tuple)
    with pytest.raises(InvalidArgumentError, match=r"reports"):
        Channel(board=FOUR_SIX, reports=5, matrix=np.eye(14), name="x")  # type: ignore[arg-type]


@given(st.data(), boards(max_codes=10**9))
def test_revealed(data: st.DataObject, board: Board) -> None:
    plain = data.draw(channels(board, revealed=False))
    ending = plain.revealed()
    assert (plain.ends, ending.ends) == (False, True)
    assert ending.revealed() is ending
    assert (plain.won_index, ending.won_index) == (None, len(plain.reports))
    assert (ending.reports, ending.name) == (plain.reports, plain.name)
    assert ending.matrix[-1].tolist() == [0.0] * len(plain.reports) + [1.0]
    assert np.all(ending.matrix[:-1, -1] == 0)
    np.testing.assert_allclose(ending.matrix[:-1, :-1], plain.matrix[:-1], rtol=1e-15)


def test_exact() -> None:
    channel = Channel.exact(FOUR_SIX)
    assert channel.is_exact
    assert channel.revealed().is_exact
    assert channel.name == "exact"
    assert np.array_equal(channel.matrix, np.eye(14))
    for other in (
        Channel.false_reply(FOUR_SIX, 0),
        Channel.independent_error(FOUR_SIX, 0),
        Channel.from_probabilities(FOUR_SIX, {(r, r): 1.0 for r in FOUR_SIX.true_replies}),
    ):
        assert other.is_exact
        assert other.revealed().is_exact
    for other in (Channel.false_reply(FOUR_SIX, 1e-9), Channel.independent_error(FOUR_SIX, 1e-9)):
        assert not other.is_exact
        assert not other.revealed().is_exact


def test_false_reply_as_in_snyder() -> None:
    channel = Channel.false_reply(FOUR_SIX, 0.2)
    assert channel.name == "false:0.2"
    for true in FOUR_SIX.true_replies[:-1]:
        assert entry(channel, true, true) == pytest.approx(0.8 + 0.2 / 13, abs=1e-15)
        assert entry(channel, true, WIN) == 0
        assert entry(channel, WIN, true) == 0
    assert entry(channel, Reply(0, 0), Reply(3, 0)) == pytest.approx(0.2 / 13, abs=1e-15)
    assert entry(channel, WIN, WIN) == 1


def test_false_reply_where_only_one_reply_does_not_win() -> None:
    assert Channel.false_reply(Board(1, 2), 0.7).is_exact


@given(boards(max_codes=10**6), probabilities)
def test_independent_error(board: Board, p: float) -> None:
    channel = Channel.independent_error(board, p)
    n = board.pegs

    def one(true: int, reported: int) -> float:
        return 1 - p if true == reported else p / n

    assert len(channel.reports) == (n + 1) ** 2
    for row, (b, w) in zip(channel.matrix, board.true_replies, strict=True):
        for column, (b2, w2) in zip(row.tolist(), channel.reports, strict=True):
            assert column == pytest.approx(one(b, b2) * one(w, w2), abs=1e-14)


def test_independent_has_the_25_reports_of_vomlel() -> None:
    rng = np.random.default_rng(1)
    black, white = rng.dirichlet(np.ones(5), size=5), rng.dirichlet(np.ones(5), size=5)
    channel = Channel.independent(FOUR_SIX, black, white)
    assert set(channel.reports) == {Reply(b, w) for b in range(5) for w in range(5)}
    got = entry(channel, Reply(1, 2), Reply(4, 3))
    assert got == pytest.approx(black[1, 4] * white[2, 3], rel=1e-14)


def test_from_counts() -> None:
    board = Board(1, 2)
    lost, won = board.true_replies
    counts = {(lost, lost): 7.0, (lost, won): 1.0}
    channel = Channel.from_counts(board, counts)
    np.testing.assert_allclose(channel.matrix, [[7.5 / 9, 1.5 / 9], [0.5, 0.5]], rtol=1e-15)
    sharper = Channel.from_counts(board, counts, 0.0 + 1e-9)
    np.testing.assert_allclose(sharper.matrix[0], [7 / 8, 1 / 8], rtol=1e-8)
    # A report that no code draws is kept, since it was heard.
    strange = Channel.from_counts(board, {(lost, Reply(1, 1)): 1})
    assert strange.reports == (Reply(0, 0), Reply(1, 0), Reply(1, 1))


def test_from_probabilities() -> None:
    board = Board(1, 3)
    lost, won = board.true_replies
    table = {(lost, lost): 0.75, (lost, Reply(0, 1)): 0.25, (won, won): 1.0}
    channel = Channel.from_probabilities(board, table)
    assert channel.reports == (Reply(0, 0), Reply(0, 1), Reply(1, 0))
    assert channel.matrix.tolist() == [[0.75, 0.25, 0.0], [0.0, 0.0, 1.0]]


@given(st.data(), boards(max_codes=1296))
def test_draw_is_the_inverse_of_the_cumulative_distribution(
    data: st.DataObject, board: Board
) -> None:
    channel = data.draw(channels(board))
    true = data.draw(st.integers(0, len(board.true_replies) - 1))
    uniform = data.draw(st.floats(0, 1, exclude_max=True))
    outcome = channel.draw(true, uniform)
    row = channel.matrix[true]
    assert row[outcome] > 0
    assert row[:outcome].sum() <= uniform + 1e-12
    assert uniform <= row[: outcome + 1].sum() + 1e-12


def test_draw_reaches_every_outcome() -> None:
    channel = Channel.false_reply(FOUR_SIX, 0.2).revealed()
    uniforms = (np.arange(100_000) + 0.5) / 100_000
    got = np.bincount([channel.draw(2, u) for u in uniforms.tolist()], minlength=15) / 100_000
    np.testing.assert_allclose(got, channel.matrix[2], atol=2e-5)
    assert channel.draw(13, 0.0) == channel.draw(13, np.nextafter(1, 0)) == channel.won_index


@pytest.mark.parametrize("report", [Reply(3, 1), Reply(9, 0), Reply(4, 4)])
@pytest.mark.parametrize("make", [Channel.exact, lambda board: Channel.false_reply(board, 0.2)])
def test_a_reply_that_the_channel_cannot_give(
    make: Callable[[Board], Channel], report: Reply
) -> None:
    for channel in (make(FOUR_SIX), make(FOUR_SIX).revealed()):
        for method in (channel.report_index, channel.likelihood):
            with pytest.raises(InvalidArgumentError, match=f"^{report} is impossible: "):
                method(report)


def _with(row: int, column: int, value: float) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
    matrix = np.eye(14)
    matrix[row, column] = value
    return matrix


REPLIES = FOUR_SIX.true_replies


@pytest.mark.parametrize(
    ("make", "kind", "message"),
    [
        (
            lambda: Channel(board=FOUR_SIX, reports=REPLIES, matrix=np.eye(13), name="x"),
            InvalidArgumentError,
            "expected matrix of shape (14, 14), board.true_replies by n_outcomes, got (13, 13)",
        ),
        (
            lambda: Channel(board=FOUR_SIX, reports=REPLIES[:3], matrix=np.eye(14), name="x"),
            InvalidArgumentError,
            "expected matrix of shape (14, 3), board.true_replies by n_outcomes, got (14, 14)",
        ),
        (
            lambda: Channel(
                board=FOUR_SIX, reports=(*REPLIES[:-1], REPLIES[0]), matrix=np.eye(14), name="x"
            ),
            InvalidArgumentError,
            "expected reports to be a sequence, each a Reply, all different, got",
        ),
        (
            lambda: Channel(
                board=FOUR_SIX, reports=(*REPLIES[:-1], Reply(9, 0)), matrix=np.eye(14), name="x"
            ),
            InvalidArgumentError,
            "expected counts 0 to 4, got 9b0w",
        ),
        (
            lambda: Channel(
                board=FOUR_SIX,
                reports=REPLIES[:-1],
                matrix=np.eye(14)[:, ::-1],
                name="x",
                ends=True,
            ),
            InvalidArgumentError,
            "expected the outcome 'won' for the winning reply and for no other",
        ),
        (
            lambda: Channel(board=FOUR_SIX, reports=REPLIES, matrix=_with(2, 5, 0.5), name="x"),
            InvalidArgumentError,
            "channel x: expected a sum of 1 for true reply 0b2w, got 1.5",
        ),
        (
            lambda: Channel(board=FOUR_SIX, reports=REPLIES, matrix=_with(2, 5, -0.5), name="x"),
            InvalidArgumentError,
            "expected probabilities in [0, 1] for true reply 0b2w, got -0.5",
        ),
        (
            lambda: Channel(board=FOUR_SIX, reports=REPLIES, matrix=_with(2, 2, np.nan), name="x"),
            InvalidArgumentError,
            "got nan",
        ),
        (
            lambda: Channel(board=FOUR_SIX, reports=REPLIES, matrix=np.zeros((14, 14)), name="x"),
            InvalidArgumentError,
            "and 11 more",
        ),
        (
            lambda: Channel.independent(FOUR_SIX, np.eye(5), np.eye(4)),
            InvalidArgumentError,
            "expected a white table of shape (5, 5), got (4, 4)",
        ),
        (
            lambda: Channel.independent(FOUR_SIX, np.ones((5, 5)), np.eye(5)),
            InvalidArgumentError,
            "expected a sum of 1 for 0 black, got 5",
        ),
        (
            lambda: Channel.false_reply(FOUR_SIX, 1.5),
            InvalidArgumentError,
            "expected a probability in [0, 1], got 1.5",
        ),
        (
            lambda: Channel.independent_error(FOUR_SIX, -0.1),
            InvalidArgumentError,
            "expected a probability in [0, 1], got -0.1",
        ),
        (
            lambda: Channel.false_reply(FOUR_SIX, float("nan")),
            InvalidArgumentError,
            "got nan",
        ),
        (
            lambda: Channel.from_counts(FOUR_SIX, {(REPLIES[0], REPLIES[0]): -1}),
            InvalidArgumentError,
            "finite and not negative, got -1",
        ),
        (
            lambda: Channel.from_counts(FOUR_SIX, {}, 0.0),
            InvalidArgumentError,
            "expected a positive prior",
        ),
        (
            lambda: Channel.from_counts(FOUR_SIX, {(Reply(3, 1), REPLIES[0]): 1}),
            InvalidArgumentError,
            "expected true replies of the board 4x6, got 3b1w",
        ),
        (
            lambda: Channel.from_counts(FOUR_SIX, {(REPLIES[0], Reply(9, 0)): 1}),
            InvalidArgumentError,
            "expected counts 0 to 4, got 9b0w",
        ),
        (
            lambda: Channel.from_probabilities(FOUR_SIX, {(WIN, WIN): 1.0}),
            InvalidArgumentError,
            "expected a sum of 1 for true reply 0b0w, got 0",
        ),
        (
            lambda: Channel.from_probabilities(FOUR_SIX, {}),
            InvalidArgumentError,
            "expected a sum of 1",
        ),
    ],
)
def test_invalid_channels_raise(
    make: Callable[[], Channel], kind: type[Exception], message: str
) -> None:
    with pytest.raises(kind) as caught:
        make()
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_rows_are_normalized_within_the_tolerance() -> None:
    channel = Channel(board=FOUR_SIX, reports=REPLIES, matrix=np.eye(14) * (1 - 5e-10), name="x")
    assert np.array_equal(channel.matrix, np.eye(14))
    with pytest.raises(InvalidArgumentError):
        Channel(board=FOUR_SIX, reports=REPLIES, matrix=np.eye(14) * (1 - 5e-9), name="x")


def test_channels_of_huge_boards_are_refused_before_they_are_allocated() -> None:
    board = Board(255, 255)
    makers: list[Callable[[], Channel]] = [
        lambda: Channel.exact(board),
        lambda: Channel.false_reply(board, 0.2),
        lambda: Channel.independent_error(board, 0.2),
        lambda: Channel.from_counts(board, {}),
    ]
    for make in makers:
        with pytest.raises(TooLargeError, match=r"at most 16,777,216 numbers, got .* GB"):
            make()
    assert Channel.independent_error(Board(30, 40), 0.2).n_outcomes == 961


# --- Noise as text and as a file ------------------------------------------------------------------


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
