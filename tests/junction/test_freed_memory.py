"""Freed memory is reused between runs; results do not change."""

import sys

import numpy as np
import pytest

from bnmind.junction.program import reuse_freed_memory


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs the C library of Linux")
def test_a_second_large_array_costs_no_page_faults() -> None:
    import resource

    def faults() -> int:
        before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
        np.ones(2**19)
        return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before

    reuse_freed_memory()
    first = [faults() for _ in range(3)]
    # An array of 4 MiB has 1,024 pages.
    assert faults() < 512, first
