"""Annotations mean the same where a `type` statement names them, as NumPy does from version 2.5."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import ArrayLike, NDArray
from typing_extensions import TypeAliasType, TypeVar

from bnmind._values import array_kind, converter

Scalar = TypeVar("Scalar", bound=np.generic)
Arrays = TypeAliasType("Arrays", np.ndarray[Any, np.dtype[Scalar]], type_params=(Scalar,))
Likes = TypeAliasType("Likes", ArrayLike)
Whole = TypeAliasType("Whole", int)

NAMED: list[tuple[Any, Any]] = [
    (Arrays[np.float64], NDArray[np.float64]),
    (Arrays[np.intp] | None, NDArray[np.intp] | None),
    (Likes, ArrayLike),
    (Likes | None, ArrayLike | None),
    (Whole | None, int | None),
    (tuple[Whole, ...] | None, tuple[int, ...] | None),
]


@pytest.mark.parametrize(("named", "plain"), NAMED, ids=str)
def test_a_name_means_what_it_names(named: Any, plain: Any) -> None:
    one, other = array_kind(named), array_kind(plain)
    assert (one and one.words) == (other and other.words)
    assert converter(named).words == converter(plain).words


def test_unions_that_are_no_arrays_take_no_numbers_of_arrays() -> None:
    assert array_kind(tuple[tuple[int, ...], ...] | None) is None
    assert array_kind(int | str) is None
