"""``bnmind play``: games against the machine."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from bnmind.lab import CodeMaker
from bnmind.mastermind import Board, Channel, parse_noise
from tests.command_line import assert_one_line_error, run, run_json

SAVE = Path("bnmind-play.json")


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
    assert f"{secret} is the code, found in 10 guesses." in shown
    false = sum(true != report for true, report in answers)
    assert false > 0  # a seed at which some are
    assert f"{false} of 9 replies were false." in shown
    shown = re.sub(r"Guess \d+: ", "", shown)
    rows = [line.split() for line in shown.splitlines() if "(A)(A)(B)(B)" in line]
    # The rows so far are shown after each guess, and in the end with what is true.
    so_far = [[str(n), "(A)(A)(B)(B)", "1122", str(r)] for n, (_, r) in enumerate(answers, 1)]
    assert rows[:-9] == [row for n in range(1, 10) for row in so_far[:n]]
    assert rows[-9:] == [
        row + (["false;", str(true), "is", "true"] if true != report else [])
        for row, (true, report) in zip(so_far, answers, strict=True)
    ]
    assert "--seed 7" in shown


def test_false_replies_by_default_and_none_if_exact() -> None:
    assert "With probability 0.2, a random reply replaces the true one" in _play("q")
    maker = _maker("exact")
    shown = _play(*["1123"] * 8, "q", options="--seed 7 --noise exact")
    assert "replies were false" not in shown
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
    assert f"Hint: (A)(D)(A)(E) {advice['guess']}" in shown
    assert f"{advice['entropy']:.2f} bits unknown" in shown
    assert f"1123  {report}  false: " in shown


def test_giving_up_shows_the_secret() -> None:
    secret = _maker().board.format(_maker().secret)
    assert f"The code was {secret}." in _play("1123", "q")
    assert f"The code was {secret}." in _play("q")


def test_a_game_that_is_left_goes_on_with_the_same_command() -> None:
    secret = _maker().board.format(_maker().secret)
    left = _play("1123", "2345")
    assert f"The code was {secret}" not in left
    assert left.endswith(f"Saved in {SAVE}; the same command resumes the game.\n")
    again = _play("3456", secret, options="")
    assert f"Resumed from {SAVE} after 2 guesses." in again
    assert f"{secret} is the code, found in 4 guesses." in again
    new = _play("q", options="--seed 7")  # as the game is over
    assert "Resumed" not in new
    assert _play("1123", options="--seed 7") != new
    assert_one_line_error(run("play", "--seed", "8"), "--seed 7", "--new", "--save")
    assert "seed 8" in _play("q", options="--seed 8 --new")
    assert "Resumed" in _play("q")  # nothing was guessed in the new game


@pytest.mark.parametrize("answers", [(), ("1123",), ("1123", "?")])
def test_interrupting_a_game_keeps_it(
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
    assert "The code was" not in result.stdout
    assert SAVE.exists() == bool(answers)


def test_a_guess_that_is_taken_back_gets_the_same_reply() -> None:
    shown = _play("u", "1123", "u", "1123", "q")
    assert "nothing to undo" in shown
    assert "undone: 1123" in shown
    assert "With 1 guess taken back." in shown
    _, report = _maker().answer(0, (1, 1, 2, 3))
    assert shown.count(f"  1  (A)(A)(B)(C)  1123  {report}\n") == 3  # and at the end


def test_other_rows_for_a_hint() -> None:
    shown = _play(
        "1123", "2345", "if 1", "if 2 0b0w", "ignore 1", "?", "codes", "colors", "if 3", "q"
    )
    assert "now   row 1: ignored" in shown
    assert "now   row 2: 0b0w" in shown
    assert shown.count("1123  1b0w  ignored") + shown.count("ignored\n") >= 2
    assert "The 40 most probable codes; together they have" in shown
    assert "expected a row from 1 to 2, got 3" in shown
    assert "  place 4   (" in shown
    assert "take the last guess back" in _play("h", "q", options="--new --seed 7")
    assert "there is no edit here" in _play("edit 1 0b0w", "q", options="--new --seed 7")


def test_plain_words() -> None:
    shown = _play("?", "q", options="--seed 7 --explain")
    shown = " ".join(shown.split())
    assert "b, black: pegs of the right color at the right place." in shown
    assert "1,296 codes could be the secret, all equally likely." in shown
    assert "It could be the code: <0.1 %. Its reply should tell 1.96 of 10.34 bits" in shown


def test_the_loss_of_each_guess_is_shown_after_a_game() -> None:
    noisy = _play("1111", "2222", "q")
    assert "Lost against the most informative guesses: " in noisy
    assert "Lost against optimal" not in noisy
    exact = _play("111", "q", options="--noise exact --pegs 3 --colors 4 --seed 1")
    assert "Lost against optimal guesses: " in exact


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
    assert "  1  (B)  2  1b0w  the game goes on, so this is false" in shown
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


def test_a_file_with_guesses_after_the_end_is_refused() -> None:
    _play("1123", "2345")
    saved = json.loads(SAVE.read_text())
    secret = _maker().board.format(_maker().secret)
    for changed in ({"max_guesses": 1}, {"guesses": [secret, "1123"]}):
        SAVE.write_text(json.dumps(saved | changed))
        assert_one_line_error(run("play"), "guesses after its end", "--new")
