"""Search for a minimal set of findings that contradict each other.

References
----------
U. Junker, "QuickXPlain: preferred explanations and relaxations for over-constrained
problems", AAAI (2004): the binary search for the next finding of a minimal conflict.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from bnmind.errors import ImpossibleEvidenceError

__all__ = ["impossible", "minimal_conflict"]


def minimal_conflict(
    findings: Sequence[str], possible: Callable[[frozenset[str]], bool]
) -> tuple[str, ...]:
    """Return a minimal set of findings that are impossible together.

    Parameters
    ----------
    findings
        Findings that are impossible together.
    possible
        Tells whether given findings are possible together.

    Examples
    --------
    >>> minimal_conflict("abcdef", lambda given: not {"b", "e"} <= given)
    ('b', 'e')
    """
    conflict: list[str] = []
    while findings and possible(frozenset(conflict)):
        # The last finding of the shortest contradicting prefix belongs to the conflict.
        low, high = 0, len(findings)
        while low + 1 < high:
            middle = (low + high) // 2
            if possible(frozenset([*findings[:middle], *conflict])):
                low = middle
            else:
                high = middle
        conflict.append(findings[high - 1])
        findings = findings[: high - 1]
    return tuple(reversed(conflict))


def impossible(findings: Mapping[str, Any], cases: Sequence[int] = ()) -> ImpossibleEvidenceError:
    """Return the error that names findings which contradict each other, and in which cases."""
    shown = ", ".join(f"{name}={state}" for name, state in findings.items())
    where = f" in case {cases[0]}" if cases else ""
    more = f" and {len(cases) - 1} cases more" if len(cases) > 1 else ""
    return ImpossibleEvidenceError(
        "expected evidence of positive probability, got zero"
        f" {f'for {shown}' if shown else 'without evidence'}{where}{more}",
        findings,
    )
