"""The result of ``bnmind simulate`` as plain data, for JSON."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from bnmind.adaptive import SimulationResult

__all__ = ["simulation_as_json"]


def simulation_as_json(
    result: SimulationResult, seed: int, written: Sequence[Path]
) -> dict[str, object]:
    """Return the curves, lengths and exposures of each selector, and the files written."""
    selectors = []
    for run in result.runs:
        curves = {}
        for measure in result.measures:
            mean, error = result.mean(run.selector, measure.name)
            curves[measure.name] = {
                "mean": [_finite(value) for value in mean.tolist()],
                "standard_error": [_finite(value) for value in error.tolist()],
            }
        selectors.append(
            {
                "selector": run.selector,
                "mean_length": float(run.lengths.mean()),
                "overlap": _finite(run.overlap),
                "impossible": int(run.impossible.sum()),
                "exposure": dict(zip(result.items, run.exposure.tolist(), strict=True)),
                "by_items_asked": curves,
            }
        )
    return {
        "examinees": len(result),
        "items": len(result.items),
        "skills": list(result.skills),
        "seed": seed,
        "selectors": selectors,
        "files": [str(path) for path in written],
    }


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None
