"""The examples run, without a warning, and print what they always print."""

from __future__ import annotations

import runpy
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

    guess  reply  probably wrong  in truth
  1  1234   2b0w           97.4%   0b3w
  2  1356   0b3w            4.9%   right
  3  6534   2b0w           91.3%   0b2w
  4  3511   2b0w            5.8%   right
  5  6512   2b1w           10.6%   right
  6  6561   0b2w           12.6%   right
"""

SKILLS_TEST = """\
13 variables, 76 cells in the junction tree

exercise  tells  answer  bits left  addition  denominator  multiplication  canceling
                              3.67       70%          45%             60%        50%
6/8       0.531  right        3.14       70%          45%             60%        90%
3/4*2/9   0.528  right        2.21       70%          45%             92%        98%
1/2+1/3   0.519  wrong        2.04       52%          12%             92%        98%
1/7+2/7   0.530  right        1.53       91%          14%             92%        98%

4 of 9 exercises asked; 4 of 4 skills right
"""

EXPECTED = {"noisy_mastermind.py": NOISY_MASTERMIND, "skills_test.py": SKILLS_TEST}


@pytest.mark.parametrize("name", sorted(EXPECTED))
def test_example(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    runpy.run_path(str(EXAMPLES / name), run_name="__main__")
    assert capsys.readouterr().out == EXPECTED[name]


def test_every_example_is_run() -> None:
    assert {path.name for path in EXAMPLES.glob("*.py")} == set(EXPECTED)
