"""Questions that a server asks itself, so that no visitor waits for the compiler."""

from __future__ import annotations

from collections.abc import Iterator

from bnmind.web.networks.models import Model
from bnmind.web.networks.network_answers import NetworkQuestion

__all__ = ["first_questions"]

_SIDES = (1, 3, 14)
"""Networks of which each is answered in another way; the last one's triangulation takes long."""

_TIMES = 5
"""The first few questions are answered without compiled code; see `bnmind._jit.PlainWork`."""


def first_questions() -> Iterator[NetworkQuestion]:
    """Return questions about grids; answered with the same `Models`, they load compiled code."""
    for side in _SIDES:
        model = Model(name=None, file="grid.uai", text=_grid(side))
        for number in range(_TIMES):
            seen = f"x{number * side**2 // _TIMES}"
            yield NetworkQuestion(model=model, evidence={seen: {"0": 1.0, "1": 2.0}})


def _grid(side: int) -> str:
    """Return a square of binary variables, with arcs to the right and down, as a UAI file."""
    parents = [[i - side] * (i >= side) + [i - 1] * (i % side > 0) for i in range(side * side)]
    scopes = [" ".join(map(str, (len(of) + 1, *of, i))) for i, of in enumerate(parents)]
    tables = [f"{2 ** (len(of) + 1)} {'.4 .6 ' * 2 ** len(of)}" for of in parents]
    head = f"BAYES\n{side * side}\n{'2 ' * side**2}\n{side * side}"
    return "\n".join((head, *scopes, *tables)) + "\n"
