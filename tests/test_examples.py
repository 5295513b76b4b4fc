"""The examples run, without a warning, and print what they always print."""

from __future__ import annotations

import re
import runpy
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[1] / "examples"

NOISY_MASTERMIND = """\
Board 4x6, noise false:0.2, secret 3612

    guess  reply  bits left  most probable code
  1  1234   2b0w       7.98   1114 (0.8%)
  2  1356   0b3w       6.70   5634 (13.1%)
  3  6534   2b0w       6.08   1514 (2.8%)
  4  3511   2b0w       3.78   6512 (19.4%)
  5  6512   2b1w       1.22   6561 (85.1%)
  6  6561   0b2w       1.60   3612 (81.1%)
  7  3612   found

    guess  reply  chance of being wrong  in truth
  1  1234   2b0w                  97.4%   0b3w
  2  1356   0b3w                   4.9%   right
  3  6534   2b0w                  91.3%   0b2w
  4  3511   2b0w                   5.8%   right
  5  6512   2b1w                  10.6%   right
  6  6561   0b2w                  12.6%   right
"""

SKILLS_TEST = """\
9 exercises, 4 skills, 3.67 bits

exercise  tells  answer  bits left  addition  denominator  multiplication  canceling
                              3.67       70%          45%             60%        50%
6/8       0.531  right        3.14       70%          45%             60%        90%
3/4*2/9   0.528  right        2.21       70%          45%             92%        98%
1/2+1/3   0.519  wrong        2.04       52%          12%             92%        98%
1/7+2/7   0.530  right        1.53       91%          14%             92%        98%

Enough: each skill is known with probability 0.85 or more.
4 of 9 exercises asked; 4 of 4 skills right
"""

MASTERMIND_AS_A_TEST = """\
Mastermind 3x4: 64 items, 3 skills with 4 levels each

     item  reply  tells  bits left  most about  the strategy's guess tells
  1  123   1b0w   2.152       4.01  peg_1                            2.152
  2  144   1b2w   2.111       4.08  peg_1                            2.111
  3  414   0b1w   2.250       1.94  peg_2                            2.250
  4  343   3b0w   1.261       0.00  peg_3                            1.261

one profile of the skills has probability 0.9 or more: 343; it is 343
"""

NETWORK_VIEWS = """\
variable        states  parents
visit_to_Asia   no yes
smoker          no yes
tuberculosis    no yes  visit_to_Asia
lung_cancer     no yes  smoker
bronchitis      no yes  smoker
either          no yes  tuberculosis lung_cancer
abnormal_X-ray  no yes  either
dyspnea         no yes  either bronchitis

Somebody is short of breath.

visit_to_Asia    no   █████████████████████████████▊  98.97  %
                 yes  ▎                                1.032 %
smoker           no   ███████████                     36.6   %
                 yes  ███████████████████             63.4   %
tuberculosis     no   █████████████████████████████▍  98.12  %
                 yes  ▋                                1.885 %
lung_cancer      no   ██████████████████████████▉     89.72  %
                 yes  ███▏                            10.28  %
bronchitis       no   █████                           16.6   %
                 yes  █████████████████████████       83.4   %
either           no   ██████████████████████████▍     87.95  %
                 yes  ███▋                            12.05  %
abnormal_X-ray   no   █████████████████████████▏      83.79  %
                 yes  ████▉                           16.21  %
dyspnea        = yes  ██████████████████████████████ 100     %

An X-ray is abnormal too.

                   dyspnea                 and X-ray
tuberculosis no    ███████████▊ 98.12  %   ██████████▋  88.61 %
             yes   ▎             1.885 %   █▍           11.39 %
lung_cancer  no    ██████████▊  89.72  %   ████▌        37.87 %
             yes   █▎           10.28  %   ███████▌     62.13 %
bronchitis   no    ██           16.6   %   ███▉         31.81 %
             yes   ██████████   83.4   %   ████████▏    68.19 %
"""

OPEN_QUESTION = """\
Additions, every code but the three guessed having belief

board      brute force        planned        counted   a guess  saved
3x4              3,904          4,028          4,028        63     1×
4x4             64,768         58,968         58,968       230     1×
4x6          1,675,728        393,026        393,026       303     4×
5x6         60,442,848      8,351,847                    1,074     7×
5x8      1,073,643,520     42,423,406                    1,295    25×

Milliseconds: masses planned and measured, the whole step, NumPy with a table *

board   planned  measured      step        NumPy   ratio
3x4  …
4x4  …
4x6  …
5x6  …
5x8  …
* 64 random guesses, extrapolated

Guesses that symmetry leaves: first, and second after the best first one

4x6    5,    57 after 1234, of 1,296
5x8    7,   579 after 11234, of 32,768

Brute force over the codes that have belief is faster below

4x6  about … codes

Branch and bound at 4x6: beginnings that a bound on (P, S) could cut

after 1 reply: 0 of 6 of length 1, 0 of 36 of length 2, 18 of 216 of length 3
after 2 replies: 0 of 6 of length 1, 0 of 36 of length 2, 13 of 216 of length 3
after 3 replies: 0 of 6 of length 1, 1 of 36 of length 2, 131 of 216 of length 3
guesses that promise more after the second, the third reply than before: 34%, 17%
"""

OPEN_QUESTION_GROWTH = """\
Every code has belief

board   brute force   elimination  ratio    ms brute  ms elimination  ratio
4x2             256         1,650   0.16…
6x2           4,096        54,376   0.08…
8x2          65,536     1,811,006   0.04…
4x3           6,561        14,134   0.46…
5x3          59,049       133,866   0.44…
6x3         531,441     1,208,462   0.44…
7x3       4,782,969    10,711,560   0.45…
3x4           4,096         4,028   1.02…
4x4          65,536        58,968   1.11…
5x4       1,048,576       774,173   1.35…
6x4      16,777,216     9,506,513   1.76…
3x6          46,656        16,158   2.89…
4x6       1,679,616       393,026   4.27…
3x8         262,144        41,560   6.31…
4x8      16,777,216     1,421,184  11.81…

Additions a code, at most, for a fixed number of pegs

2 pegs: 17
3 pegs: 102, 6.0 times those of 2 pegs
4 pegs: 511, 5.0 times those of 3 pegs
5 pegs: 2,316, 4.5 times those of 4 pegs
6 pegs: 9,875, 4.3 times those of 5 pegs

Brute force / elimination, additions, for a fixed number of colors

2 colors, 2 to 9 pegs: 0.381  0.234  0.155  0.108  0.0753  0.0525  0.0362  0.0248
3 colors, 2 to 8 pegs: 0.711  0.517  0.464  0.441  0.44  0.447  0.463
4 colors, 2 to 7 pegs: 1.16  1.02  1.11  1.35  1.76  2.41
5 colors, 2 to 6 pegs: 1.74  1.79  2.3  3.36  5.35
6 colors, 2 to 6 pegs: 2.43  2.89  4.27  7.24  13.5

Additions: brute force, position by position, color by color

3x4             4,096             9,984           4,028
4x6         1,679,616         2,332,800         393,026
5x8     1,073,741,824       591,134,720      42,423,406
6x9   282,429,536,481    52,665,271,659   2,526,623,610
"""

EXPECTED = {
    "mastermind_as_a_test.py": MASTERMIND_AS_A_TEST,
    "network_views.py": NETWORK_VIEWS,
    "noisy_mastermind.py": NOISY_MASTERMIND,
    "open_question.py": OPEN_QUESTION,
    "open_question_growth.py": OPEN_QUESTION_GROWTH,
    "skills_test.py": SKILLS_TEST,
}
"""What each example prints; … stands for anything on its line."""


def run(
    name: str,
    arguments: list[str],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(sys, "argv", [name, *arguments])
    runpy.run_path(str(EXAMPLES / name), run_name="__main__")
    expected = "[^\n]*".join(re.escape(part) for part in EXPECTED[name].split("…"))
    printed = capsys.readouterr().out
    assert re.fullmatch(expected, printed), printed


LONG = {"open_question.py", "open_question_growth.py"}


@pytest.mark.parametrize("name", sorted(EXPECTED.keys() - LONG))
def test_example(
    name: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    run(name, [], monkeypatch, capsys)


@pytest.mark.slow
def test_open_question_draws_its_figure_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    figure = tmp_path / "figure.png"
    run("open_question.py", ["--figure", str(figure)], monkeypatch, capsys)
    assert figure.read_bytes().startswith(b"\x89PNG")


@pytest.mark.slow
def test_growth_of_the_open_question(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    run("open_question_growth.py", [], monkeypatch, capsys)


def test_network_views_writes_the_pictures_of_the_documentation(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    run("network_views.py", ["--write", str(tmp_path)], monkeypatch, capsys)
    pictures = sorted(path.name for path in tmp_path.iterdir())
    assert pictures == ["views-belief.svg", "views-network.svg", "views-side-by-side.svg"]
    for name in pictures:
        kept = EXAMPLES.parent / "docs" / "images" / name
        assert (tmp_path / name).read_text(encoding="utf-8") == kept.read_text(encoding="utf-8")


def test_every_example_is_run() -> None:
    assert {path.name for path in EXAMPLES.glob("*.py")} == set(EXPECTED)
