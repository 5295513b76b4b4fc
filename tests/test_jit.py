"""The door to numba: kernels compile, call each other, and cost nothing until called."""

from __future__ import annotations

import subprocess
import sys

from bnmind._jit import njit


@njit
def square(x: float) -> float:
    """Return x squared."""
    return x * x


@njit
def sum_of_squares(n: int) -> float:
    total = 0.0
    for i in range(n):
        total += square(i)
    return total


def test_kernels_call_kernels() -> None:
    assert sum_of_squares(5) == 30.0
    assert square(3.0) == 9.0


def test_kernels_keep_their_names() -> None:
    assert (square.__name__, square.__doc__) == ("square", "Return x squared.")


def test_importing_mastermind_leaves_the_heavy_libraries_alone() -> None:
    script = (
        "import sys, bnmind.mastermind as m\n"
        "m.TableBelief.start(m.Channel.exact(m.Board(4, 6))).update((1, 1, 2, 3), m.Reply(1, 1))\n"
        "print([name for name in ('numba', 'pgmpy', 'pandas', 'scipy') if name in sys.modules])\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert (done.stdout.strip(), done.stderr) == ("[]", "")
