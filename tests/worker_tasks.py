"""Tasks for workers, in a module that they import in little time."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

from bnmind.errors import InvalidArgumentError

__all__ = ["ends_once", "half", "refuse", "remembers", "square", "waits", "waits_for"]


def half(number: int) -> int:
    if number % 2:
        raise InvalidArgumentError(f"{number} is odd", number)
    return number // 2


def waits_for(path: Path, number: int) -> int:
    """Return a number; the first task waits until a file is there."""
    end = time.monotonic() + 60
    while number == 0 and not path.exists():
        assert time.monotonic() < end
        time.sleep(0.01)
    return number


def ends_once(directory: Path, number: int) -> int:
    flag = directory / str(number)
    if number == 3 and not flag.exists():
        flag.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return half(2 * number)


REMEMBERED: list[bytes] = []


def remembers(megabytes: int) -> tuple[int, int]:
    """Remember some megabytes more; return the process, and all that it remembers."""
    REMEMBERED.append(bytes(range(1, 251)) * (4000 * megabytes))
    time.sleep(0.6)  # loky looks once a second
    return os.getpid(), sum(map(len, REMEMBERED)) // 10**6


def waits(number: int) -> int:
    time.sleep(0.05)
    return number


def square(directory: Path, number: int) -> int:
    """Return a square after a while, and leave the name of the process."""
    (directory / str(os.getpid())).touch()
    end = time.process_time() + 0.02
    while time.process_time() < end:
        pass
    return number * number


def refuse(number: int) -> int:
    raise InvalidArgumentError(f"{number} is refused", number)
