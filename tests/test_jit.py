"""The door to numba: kernels compile, call each other, and cost nothing until called."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import numba
import numpy as np
import pytest
from numba.core import event
from numba.core.compiler_lock import global_compiler_lock

from bnmind._jit import (
    MOST_PLAIN_WORK,
    Kernel,
    PlainWork,
    _keeping_interrupts,
    njit,
    njit_superword,
    run_plainly,
)


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


def test_kernels_run_as_python_functions_with_all_that_they_call() -> None:
    @njit
    def once(x: int) -> int:
        return int(f"{x}1")  # numba cannot compile this

    @njit
    def twice(x: int) -> int:
        return once(x) + once(x)

    assert run_plainly(twice, 5) == 102
    with pytest.raises(ZeroDivisionError):
        run_plainly(njit(lambda x: 1 // x), 0)
    assert square(3.0) == 9.0
    assert isinstance(square, Kernel)
    assert square.is_loaded


def test_plain_work_ends_at_its_limit_or_when_the_kernel_is_loaded() -> None:
    @njit
    def kernel(x: int) -> int:
        return x + 1

    work = PlainWork(kernel, 10, if_cached=10)
    work.spend(3.5)
    assert work.left == 7
    work.spend(99)
    assert work.left == 0
    work = PlainWork(kernel, 10, if_cached=10, tasks=1)
    work.spend(1)
    assert work.left == 0
    other = PlainWork(kernel, 10, if_cached=10)
    assert other.left == 10
    assert kernel(1) == 2
    assert other.left == 0


@pytest.mark.skipif(bool(numba.config.DISABLE_JIT), reason="nothing is compiled")
def test_small_tasks_do_not_wait_for_another_thread_that_compiles() -> None:
    @njit
    def kernel(x: int) -> int:
        return x + 1

    @njit
    def other(x: int) -> int:
        return kernel(x) + 1

    assert square(3.0) == 9.0  # the first kernel of a process sets numba up
    work = PlainWork(kernel, 10, tasks=0)
    assert work.left == 0
    seen: list[int] = []
    compiling = threading.Thread(target=other, args=(1,))
    with global_compiler_lock:
        compiling.start()
        until = time.monotonic() + 20
        while not seen and time.monotonic() < until:
            seen += [left for left in [work.left] if left]
            time.sleep(0.001)
    compiling.join()
    assert 10 < sum(seen) < MOST_PLAIN_WORK
    assert kernel(1) == 2
    assert work.left == 0


@pytest.mark.slow
def test_less_plain_work_is_done_if_the_cache_has_the_kernel(tmp_path: Path) -> None:
    script = (
        "import sys\n"
        "from bnmind._jit import PlainWork\n"
        "from tests.test_jit import sum_of_squares as kernel\n"
        "print(kernel.is_cached, PlainWork(kernel, 10, if_cached=3).left)\n"
        "print('numba.core' in sys.modules and kernel(5))\n"
    )
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path), "NUMBA_DISABLE_JIT": "0"}
    for expected in ("False 10\n30.0\n", "True 3\n30.0\n"):
        done = subprocess.run(
            [sys.executable, "-c", script], capture_output=True, text=True, env=environment
        )
        assert (done.stdout, done.stderr) == (expected, "")


@njit_superword
def doubled_words(x: int) -> int:
    return x * 0x9E3779B97F4A7C15


@pytest.mark.parametrize("disabled", ["0", "1"])
def test_kernels_run_with_and_without_compilation(disabled: str) -> None:
    script = (
        "import numpy as np\n"
        "from tests.test_jit import doubled_words, sum_of_squares\n"
        "print(sum_of_squares(5), hex(doubled_words(np.uint64(2**63 + 3))))\n"
    )
    environment = {**os.environ, "NUMBA_DISABLE_JIT": disabled}
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", script],
        capture_output=True,
        text=True,
        env=environment,
    )
    assert (done.stdout.strip(), done.stderr) == ("30.0 0x5aa66d2c7ddf743f", "")


class InterruptedWhenDeleted:
    """Raise KeyboardInterrupt where Python cannot pass it on, as in what LLVM calls back."""

    def __del__(self) -> None:
        raise KeyboardInterrupt


def lose_an_interrupt() -> None:
    InterruptedWhenDeleted()


def lose_an_interrupt_and_fail() -> None:
    InterruptedWhenDeleted()
    raise RuntimeError("no compiled object yet")


@pytest.mark.parametrize("compile_for", [lose_an_interrupt, lose_an_interrupt_and_fail])
def test_an_interrupt_that_got_lost_is_raised_in_the_end(
    compile_for: Callable[[], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "unraisablehook", sys.__unraisablehook__)
    with pytest.raises(KeyboardInterrupt), _keeping_interrupts():
        compile_for()
    assert sys.unraisablehook is sys.__unraisablehook__


@pytest.mark.compiled
def test_an_interrupt_that_got_lost_ends_the_compilation(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path))  # where no code is
    passes: list[object] = []

    class Loser(event.Listener):  # type: ignore[misc]
        def on_start(self, passing: object) -> None:
            if not passes:
                lose_an_interrupt()
            passes.append(passing)

        def on_end(self, passing: object) -> None:
            pass

    @njit
    def tripled(x: int) -> int:
        return 3 * x

    monkeypatch.setattr(sys, "unraisablehook", sys.__unraisablehook__)
    with event.install_listener("numba:run_pass", Loser()), pytest.raises(KeyboardInterrupt):
        tripled(1)
    assert len(passes) <= 2
    assert tripled(2) == 6


def test_a_hook_for_lost_exceptions_hears_of_interrupts(monkeypatch: pytest.MonkeyPatch) -> None:
    heard: list[object] = []
    monkeypatch.setattr(sys, "unraisablehook", lambda lost: heard.append(lost.exc_type))
    with pytest.raises(KeyboardInterrupt), _keeping_interrupts():
        lose_an_interrupt()
    assert heard == [KeyboardInterrupt]


def test_other_errors_stay_what_they_are() -> None:
    with pytest.raises(RuntimeError, match="own"), _keeping_interrupts():
        raise RuntimeError("a fault of its own")


def test_an_interrupt_of_what_makes_a_result_is_an_interrupt() -> None:
    def interrupted(_: int) -> int:
        try:
            raise KeyboardInterrupt
        except KeyboardInterrupt as interrupt:
            raise SystemError("returned a result with an exception set") from interrupt

    def failed(_: int) -> int:
        raise SystemError("another fault")

    kernel = Kernel(lambda x: x)
    vars(kernel)["_compiled"] = interrupted
    with pytest.raises(KeyboardInterrupt):
        kernel(1)
    vars(kernel)["_compiled"] = failed
    with pytest.raises(SystemError, match="another fault"):
        kernel(1)


def test_importing_mastermind_leaves_the_heavy_libraries_alone() -> None:
    script = (
        "import sys, bnmind.mastermind as m\n"
        "m.TableBelief.start(m.Channel.exact(m.Board(4, 6))).update((1, 1, 2, 3), m.Reply(1, 1))\n"
        "print([name for name in ('numba', 'pgmpy', 'pandas', 'scipy') if name in sys.modules])\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert (done.stdout.strip(), done.stderr) == ("[]", "")


@pytest.mark.compiled
def test_kernels_count_bits_as_python_does() -> None:
    def bits_of(number: int) -> tuple[int, int]:
        return number.bit_count(), number.bit_length()

    kernel = njit(bits_of)
    for number in (0, 1, 5, 2**62 - 1, 2**62, 2**63 - 1):
        assert kernel(number) == bits_of(number)
    assert kernel(np.uint64(2**64 - 1)) == (64, 64)  # type: ignore[arg-type]
