"""Kernels before their compilation: a function with its compiler options."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

__all__ = ["KernelSource"]


class KernelSource:
    """A function that is compiled to machine code when it is first called."""

    def __init__(self, function: Callable[..., Any], *, superword: bool = False) -> None:
        self.function = function
        """The Python source function."""
        self.superword = superword
        """Whether neighboring scalar operations are joined into vector operations."""
