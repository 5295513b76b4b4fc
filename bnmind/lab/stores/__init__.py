"""Stores: directories of Parquet files with the rows of experiments."""

from bnmind.lab.stores.opening import begin
from bnmind.lab.stores.resumed import forget_unfinished, resumed_games, unfinished_place
from bnmind.lab.stores.run_into import run_into, write_batch
from bnmind.lab.stores.store import Store, digest_of, read_store

__all__ = [
    "Store",
    "begin",
    "digest_of",
    "forget_unfinished",
    "read_store",
    "resumed_games",
    "run_into",
    "unfinished_place",
    "write_batch",
]
