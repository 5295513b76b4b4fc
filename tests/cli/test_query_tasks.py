"""``bnmind query --task``: the tasks of the UAI competitions, and ``--normalize``."""

from __future__ import annotations

import gzip
import math
from pathlib import Path

import numpy as np
import pytest

from bnmind.junction import compile_explanation, posterior
from bnmind.pgm.competition import read_explanation, read_log_evidence, read_marginals
from bnmind.pgm.files import read_model, write_model
from tests.command_line import assert_one_line_error, run, run_json
from tests.pgm.uai.test_models import NETWORK, TEXT


@pytest.fixture(autouse=True)
def _files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("flood.uai").write_text(TEXT)
    Path("flood.uai.gz").write_bytes(gzip.compress(TEXT.encode()))
    Path("flood.uai.evid").write_text("1 2 1\n")
    Path("flood.uai.evid.gz").write_bytes(gzip.compress(b"1\n1 2 1\n"))
    Path("flood.uai.query").write_text("2 1 0\n")


@pytest.mark.parametrize("packed", ["", ".gz"])
def test_tasks_are_answered_in_the_format_of_the_competitions(packed: str) -> None:
    def answer(task: str) -> Path:
        out = f"answer.{task}{packed}"
        files = (f"flood.uai{packed}", "--evidence-file", f"flood.uai.evid{packed}")
        done = run("query", *files, "--task", task, "--out", out)
        assert (done.exit_code, done.stdout) == (0, f"Written: {out}\n")
        return Path(out)

    model = read_model("flood.uai")
    found = posterior(model, {"x2": "1"})
    assert read_log_evidence(answer("PR")) == pytest.approx(found.log_evidence, abs=1e-12)
    marginals = read_marginals(answer("MAR"), model)
    assert list(marginals) == ["x0", "x1", "x2"]
    assert marginals["x2"].tolist() == [0, 1, 0]
    for name in ("x0", "x1"):
        assert marginals[name] == pytest.approx(found.marginals[name], abs=1e-12)
    assert read_explanation(answer("MPE"), model) == {"x0": "0", "x1": "0", "x2": "1"}
    assert list(read_explanation(answer("MMAP"), model).items()) == [("x1", "0"), ("x0", "0")]


def test_answers_are_printed() -> None:
    asked = ("query", "flood.uai", "--evidence", "x2=1", "--task")
    assert run(*asked, "MPE").stdout == "MPE\n3 0 0 1\n"
    assert run(*asked, "MMAP", "--targets", "x1").stdout == "MMAP\n1 1 0\n"
    assert run(*asked, "MMAP", "--targets", "x2,x1").stdout == "MMAP\n2 2 1 1 0\n"
    first, number = run(*asked, "PR").stdout.split()
    assert first == "PR"
    assert float(number) == pytest.approx(math.log10(0.128))
    everything = ("--evidence", "x0=0,x1=0", "--task", "MAR")
    assert run("query", "flood.uai", "--evidence", "x2=1", *everything).stdout == (
        "MAR\n3 2 1.0 0.0 2 1.0 0.0 3 0.0 1.0 0.0\n"
    )


def test_the_best_answers_are_lines_in_descending_order() -> None:
    asked = ("query", "flood.uai", "--evidence", "x2=1", "--task")
    model = read_model("flood.uai")
    best = compile_explanation(model, evidence=["x2"]).best(3, {"x2": "1"})
    lines = [f"3 {each.states['x0']} {each.states['x1']} 1\n" for each in best]
    assert run(*asked, "MPE", "--best", "3").stdout == "MPE\n" + "".join(lines)
    assert run(*asked, "MPE", "--best", "1").stdout == "MPE\n" + lines[0]
    everything = run(*asked, "MPE", "--best", "1000").stdout
    assert everything.startswith("MPE\n" + "".join(lines))
    joint = posterior(model, {"x2": "1"}, targets=["x1"]).marginals["x1"].real
    order = [f"1 1 {state}\n" for state in np.argsort(-joint)]
    assert run(*asked, "MMAP", "--targets", "x1", "--best", "2").stdout == "MMAP\n" + "".join(order)


def test_a_file_of_evidence_may_hold_several_samples() -> None:
    Path("two.evid").write_text("2\n1 2 1\n1 2 2\n")
    asked = ("query", "flood.uai", "--evidence-file", "two.evid")
    single = [
        run("query", "flood.uai", "--evidence", f"x2={state}", "--task", "MPE").stdout.split("\n")
        for state in (1, 2)
    ]
    lines = [answer[1] for answer in single]
    assert run(*asked, "--task", "MPE").stdout == f"MPE\n2\n{lines[0]}\n{lines[1]}\n"
    head, n, *numbers = run(*asked, "--task", "PR").stdout.split()
    assert (head, n, len(numbers)) == ("PR", "2", 2)
    best = run(*asked, "--task", "MPE", "--best", "2").stdout.splitlines()
    assert [best[2], best[4]] == lines
    assert_one_line_error(run(*asked), "evidence of one sample", "got 2 samples")


def test_the_probability_of_impossible_evidence_is_an_answer() -> None:
    asked = ("query", "flood.uai", "--evidence", "x0=0,x1=0,x2=2", "--task")
    assert run(*asked, "PR").stdout == "PR\n-inf\n"
    assert_one_line_error(run(*asked, "MAR"), "x2=2")


def test_an_evidence_file_goes_with_other_formats_and_options() -> None:
    write_model(NETWORK, "flood.bif")
    found = run_json("query", "flood.bif", "--evidence-file", "flood.uai.evid")
    known = run_json("query", "flood.bif", "--evidence", "flood=some")
    assert found == known
    both = ("--evidence-file", "flood.uai.evid", "--evidence", "rain=yes", "--order", "min-fill")
    assert list(run_json("query", "flood.bif", *both)["marginals"]) == ["wind"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--task", "MPA"], ["task among PR, MAR, MPE, MMAP", "'MPA'"]),
        (["--task", "PR", "--json"], ["--json does not go with --task PR"]),
        (["--task", "MPE", "--targets", "x0"], ["--targets does not go with --task MPE"]),
        (["--task", "MAR", "--query-file", "flood.uai.query"], ["--query-file does not go"]),
        (["--task", "PR", "--svg", "x.svg"], ["--svg does not go"]),
        (["--task", "PR", "--plan"], ["--plan does not go"]),
        (["--best", "2"], ["--best goes with --task PR"]),
        (["--task", "MAR", "--best", "2"], ["--best does not go with --task MAR"]),
        (["--task", "MPE", "--best", "0"], ["--best"]),
        (["--out", "x.MAR"], ["--out goes with --task PR"]),
        (["--query-file", "flood.uai.query"], ["--query-file goes with --task PR"]),
        (
            ["--task", "MMAP", "--targets", "x0", "--query-file", "flood.uai.query"],
            ["--targets and --query-file"],
        ),
        (["--task", "MMAP", "--query-file", "flood.uai.evid"], ["end of the file", "uai.evid"]),
        (["--task", "MMAP", "--targets", "x7"], ["variable", "'x7'"]),
        (
            ["--evidence", "x2=1", "--evidence-file", "flood.uai.evid"],
            ["x2 is given twice", "--evidence and in flood.uai.evid"],
        ),
        (["--evidence-file", "none.evid"], ["none.evid"]),
        (["--evidence-file", "flood.uai"], ["'BAYES'", "in flood.uai"]),
        (["--task", "MAR", "--evidence", "x2=9"], ["state of x2", "'9'"]),
        (["--max-bytes", "inf"], ["--max-bytes of at most 1e+30, got inf"]),
        (["--max-bytes", "0"], ["--max-bytes"]),
        (["--task", "MAR", "--max-multiplications", "2"], ["max_multiplications=2"]),
        (["--max-multiplications", "2"], ["max_multiplications=2"]),
    ],
)
def test_bad_options_of_tasks(arguments: list[str], words: list[str]) -> None:
    assert_one_line_error(run("query", "flood.uai", *arguments), *words)


def test_limits_can_be_raised() -> None:
    asked = ("query", "flood.uai", "--max-bytes", "8e9", "--max-multiplications", "1e12")
    assert run(*asked).exit_code == 0
    assert run(*asked, "--task", "MPE").stdout == "MPE\n3 0 0 0\n"


def test_a_marginal_map_needs_variables() -> None:
    Path("flood.uai.query").unlink()
    error = run("query", "flood.uai", "--task", "MMAP")
    assert_one_line_error(error, "--targets or --query-file, or put them into flood.uai.query")


COMMANDS = (
    ("query", "off.uai"),
    ("predict", "off.uai", "cases.csv", "--targets", "x0"),
    ("fit", "off.uai", "cases.csv"),
    ("ask", "off.uai", "--about", "x0", "--rank"),
    ("explain", "off.uai", "--target", "x0"),
)


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command[0])
def test_rounded_probabilities_are_normalized_if_asked(command: tuple[str, ...]) -> None:
    Path("off.uai").write_text(TEXT.replace("0.9 0.1 0.0", "0.89 0.1 0.0"))
    Path("cases.csv").write_text("x0,x1,x2\n0,0,1\n1,1,2\n")
    error = run(*command)
    assert_one_line_error(error, "sum of 0.99 given x0=0, x1=0 (--normalize corrects rounding)")
    assert "normalize=True" not in error.stderr
    corrected = run(*command, "--normalize")
    assert corrected.exit_code == 0
    assert "note: normalized" in corrected.stderr
