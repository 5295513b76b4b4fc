"""The options that say where work runs."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from bnmind.errors import BnmindError

if TYPE_CHECKING:
    from bnmind._workers import Backend

__all__ = ["backend_of", "kept"]


@contextmanager
def kept(workers: int | Backend) -> Iterator[int | Backend]:
    """Yield the workers for several calls, so that a local cluster starts only once."""
    from bnmind._cluster import Cluster

    if isinstance(workers, Cluster):
        with workers.kept() as cluster:
            yield cluster
    else:
        yield workers


def backend_of(workers: int | None, cluster: str | None) -> int | Backend:
    """Return what ``--workers`` and ``--cluster`` say, for a ``workers`` argument.

    Raises
    ------
    BnmindError
        If both are given, a number or an address is invalid, or Dask is not installed.
    """
    from bnmind._cluster import Cluster
    from bnmind._workers import Processes

    if workers is not None and cluster is not None:
        raise BnmindError("expected either --workers or --cluster, got both")
    if cluster is not None:
        found = Cluster(cluster)
        found.check_installed()
        return found
    return 1 if workers is None else Processes(workers).workers
