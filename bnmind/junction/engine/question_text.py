"""The question that a plan answers, in one line, as ``P(lung | xray, smoke?)``."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from bnmind._messages import one_line

__all__ = ["question_text"]

_MOST = 4
"""The most names that are shown on each side."""

_LONGEST = 24
"""The most characters of a name."""


def question_text(
    kind: str,
    targets: Sequence[Sequence[str]] | None,
    hard: Sequence[str],
    soft: Sequence[str],
) -> str:
    """Return a question as text, with ``?`` after variables of soft evidence.

    Parameters
    ----------
    kind
        The name of the method that asks.
    targets
        The variables of each target; None for all variables.
    hard, soft
        The variables of the evidence.

    Examples
    --------
    >>> question_text("posterior", [["tub"], ["lung", "smoke"]], ["xray"], ["dysp"])
    'posterior  tub; lung, smoke | xray, dysp?'
    >>> question_text("mpe", None, [], [])
    'mpe  all variables'
    """
    asked = "all variables"
    if targets is not None:
        asked = _some((_some(target, ", ") for target in targets if target), "; ") or "log_evidence"
    given = _some([*hard, *(f"{name}?" for name in soft)], ", ")
    return f"{kind}  {asked}{f' | {given}' if given else ''}"


def _some(names: Iterable[str], comma: str) -> str:
    """Return the first few names, and the number of all names."""
    every = [one_line(name, longest=_LONGEST) for name in names]
    more = f"{comma}… {len(every)} in all" if len(every) > _MOST else ""
    return comma.join(every[:_MOST]) + more
