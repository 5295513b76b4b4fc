"""Stores: directories of Parquet files with the rows of experiments."""

from bnmind.lab.stores.run_into import run_into
from bnmind.lab.stores.store import Store, read_store

__all__ = ["Store", "read_store", "run_into"]
