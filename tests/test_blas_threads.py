"""BLAS has one thread inside of the block, and as many as before after it."""

from __future__ import annotations

import numpy as np  # noqa: F401 - loads BLAS
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from bnmind._workers import one_blas_thread


def threads() -> set[int]:
    return {found["num_threads"] for found in threadpool_info() if found["user_api"] == "blas"}


def test_one_thread_inside_and_as_many_as_before_afterwards() -> None:
    with threadpool_limits(limits=2, user_api="blas"):
        before = threads()
        with one_blas_thread():
            assert threads() == {1}
        assert threads() == before
        with pytest.raises(ZeroDivisionError), one_blas_thread():
            raise ZeroDivisionError
        assert threads() == before
