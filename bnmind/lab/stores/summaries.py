"""Summaries of rows: means of some columns by the values of others."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from bnmind.lab.stores.columns import arrow

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["summary_frame"]


def summary_frame(table: Any, keys: Sequence[str], measures: Sequence[str]) -> pd.DataFrame:
    """Return the mean, the standard error and the largest value of measures, by keys.

    Parameters
    ----------
    table
        An Arrow table.
    keys
        The columns whose values tell the groups apart; groups are in the order of appearance.
    measures
        Columns of numbers or truth values. Missing values do not count; a measure without any
        value is left out.

    Returns
    -------
    pandas.DataFrame
        The keys, ``rows``, and for a measure m the columns m, m_error and m_most.
    """
    pa = arrow()
    import pyarrow.compute as pc

    columns = {name: table[name] for name in keys}
    for name in measures:
        if table[name].null_count < len(table) or not len(table):
            columns[name] = pc.cast(table[name], pa.float64())
    shown = [name for name in measures if name in columns]
    sample = pc.VarianceOptions(ddof=1)
    wanted: list[tuple[Any, ...]] = [([], "count_all")]
    for name in shown:
        wanted += [(name, "mean"), (name, "stddev", sample), (name, "count"), (name, "max")]
    found = pa.table(columns).group_by(list(keys), use_threads=False).aggregate(wanted).to_pandas()
    summary = found[list(keys)].assign(rows=found["count_all"])
    for name in shown:
        count = found[f"{name}_count"].to_numpy(dtype=float)
        deviation = found[f"{name}_stddev"].to_numpy(dtype=float)
        with np.errstate(divide="ignore", invalid="ignore"):
            error = deviation / np.sqrt(count)
        summary = summary.assign(
            **{
                name: found[f"{name}_mean"],
                f"{name}_error": error,
                f"{name}_most": found[f"{name}_max"],
            }
        )
    result: pd.DataFrame = summary
    return result
