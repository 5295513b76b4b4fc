"""A small machine with a fault, for tests of dialogues."""

from __future__ import annotations

from bnmind.pgm import Network, Variable
from bnmind.questions import Dialogue, Inquiry
from tests.questions.enumeration import table

__all__ = ["FAULT", "LEAK", "MACHINE", "NOISE", "begin"]

FAULT = Variable("fault", ("none", "pump", "valve"))
NOISE, LEAK = Variable("noise", ("no", "yes")), Variable("leak", ("no", "yes"))
HEAT = Variable("heat", ("low", "high"))
MACHINE = Network(
    (
        table(FAULT, (), [0.6, 0.3, 0.1]),
        table(NOISE, (FAULT,), [[0.9, 0.2, 0.8], [0.1, 0.8, 0.2]]),
        table(LEAK, (FAULT,), [[0.99, 0.95, 0.2], [0.01, 0.05, 0.8]]),
        table(HEAT, (FAULT,), [[1.0, 0.5, 0.9], [0.0, 0.5, 0.1]]),
    )
)


def begin(**options: object) -> Dialogue:
    """Return a dialogue about the fault before its first question."""
    return Dialogue(Inquiry.of(MACHINE, about="fault", **options))  # type: ignore[arg-type]
