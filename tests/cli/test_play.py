"""``bnmind play``: games against the machine."""

from __future__ import annotations

from pathlib import Path

import pytest

from bnmind.lab import CodeMaker
from bnmind.mastermind import Board, Channel, parse_noise
from tests.command_line import assert_one_line_error, run, run_json


@pytest.fixture(autouse=True)
def _in_an_empty_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def _maker(noise: str = "false:0.2", seed: int = 7) -> CodeMaker:
    return CodeMaker.from_seed(parse_noise(Board(4, 6), noise).revealed(), seed)


def _play(*answers: str, options: str = "--seed 7") -> str:
    result = run("play", *options.split(), answers="".join(f"{line}\n" for line in answers))
    assert result.exit_code == 0, result.output
    assert result.stderr == ""
    return result.stdout


def test_a_game_from_guess_to_code() -> None:
    maker = _maker()
    secret = maker.board.format(maker.secret)
    answers = [maker.answer(turn, (1, 1, 2, 2)) for turn in range(9)]
    shown = _play(*["1122"] * 9, secret)
    for _, report in answers:
        assert f"  {report}\n" in shown
    assert f"{secret} is the code, found in 10 guesses." in shown
    false = sum(true != report for true, report in answers)
    assert false > 0  # a seed at which some are
    assert f"{false} of 9 replies false." in shown
    rows = [line.split() for line in shown.splitlines() if line.startswith("  1122")]
    assert rows == [
        ["1122", str(report), str(true)] + ["false"] * (report != true) for true, report in answers
    ]
    assert "--seed 7" in shown


def test_false_replies_by_default_and_none_if_exact() -> None:
    assert "noise false:0.2" in _play("q")
    maker = _maker("exact")
    shown = _play(*["1123"] * 8, "q", options="--seed 7 --noise exact")
    assert "0 of 8 replies false." in shown
    assert maker.board.format(maker.secret) in shown


def test_seeds_repeat_and_an_unseeded_game_shows_its_seed() -> None:
    first = _play("1123", "2345", "q", options="")
    seed = first.split("--seed ")[1].split()[0]
    assert first.splitlines()[0].endswith(f"seed {seed}.")
    assert _play("1123", "2345", "q", options=f"--seed {seed}") == first


def test_a_hint_agrees_with_suggest() -> None:
    _, report = _maker().answer(0, (1, 1, 2, 3))
    advice = run_json("suggest", "--noise", "false:0.2", "--history", f"1123 {report}")
    shown = _play("1123", "?", "q")
    assert f"Hint: {advice['guess']}" in shown
    assert f"{advice['entropy']:.2f} bits unknown" in shown
    assert f"Most likely wrong: 1123 {report}" in shown


def test_giving_up_and_the_end_of_the_input_show_the_secret() -> None:
    secret = _maker().board.format(_maker().secret)
    assert f"The code was {secret}." in _play("1123", "q")
    assert f"The code was {secret}." in _play("1123")
    assert f"The code was {secret}." in _play()


@pytest.mark.parametrize("answers", [(), ("1123",), ("1123", "?")])
def test_interrupting_a_game_prints_the_code(
    answers: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    typed = iter(answers)

    def answer(question: str) -> str:
        for text in typed:
            return text
        raise KeyboardInterrupt

    monkeypatch.setattr("builtins.input", answer)
    result = run("play", "--seed", "7")
    assert result.exit_code == 130
    assert result.stderr == ""
    assert f"\n\nThe code was {_maker().board.format(_maker().secret)}." in result.stdout
    assert result.stdout.endswith("The same game again: --seed 7\n")


def test_nothing_is_undone() -> None:
    assert "expected" in _play("1123", "u", "q")


@pytest.mark.parametrize(
    ("answer", "words"), [("1127", "1 to 6"), ("112", "4 pegs"), ("", "expected"), ("1b2w", "1b2w")]
)
def test_bad_guesses_take_one_line_and_do_not_count(answer: str, words: str) -> None:
    shown = _play(answer, "q")
    assert words in shown
    assert shown.count("Guess 1: ") == 2
    assert "Guess 2" not in shown


def test_all_black_in_an_unfinished_game_is_reported_as_false() -> None:
    board = Board(1, 2)
    channel = Channel.independent_error(board, 0.5).revealed()
    seed = next(
        seed
        for seed in range(100)
        if CodeMaker.from_seed(channel, seed, secret=(1,)).answer(0, (2,))[1] == (1, 0)
        and CodeMaker.from_seed(channel, seed).secret == (1,)
    )
    shown = _play("2", "1", options=f"--pegs 1 --colors 2 --noise independent:0.5 --seed {seed}")
    assert "1b0w; the game goes on, so this is false" in shown
    assert "1 is the code, found in 2 guesses." in shown


def test_boards_whose_codes_cannot_be_listed_have_hints_from_samples() -> None:
    shown = _play("?", "q", options="--pegs 20 --colors 9 --seed 1")
    assert "Hint: " in shown
    assert "The code was " in shown


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--pegs", "0"], ["pegs"]),
        (["--pegs", "-1"], ["-1"]),
        (["--colors", "1"], ["colors"]),
        (["--noise", "independent:1.01"], ["1.01"]),
        (["--noise", "file:none.csv"], ["none.csv"]),
        (["--no-repeats", "--pegs", "7"], ["repeats"]),
    ],
)
def test_bad_input(options: list[str], words: list[str]) -> None:
    assert_one_line_error(run("play", *options), *words)
    assert list(Path().iterdir()) == []
