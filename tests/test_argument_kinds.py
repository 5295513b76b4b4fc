"""What annotations allow, also where a `type` statement names them, as NumPy does from 2.5."""

from __future__ import annotations

from enum import StrEnum
from fractions import Fraction
from typing import Annotated, Any

import numpy as np
import pytest
from annotated_types import Ge, Lt, MinLen
from numpy.typing import ArrayLike, NDArray
from typing_extensions import TypeAliasType, TypeVar

from bnmind._values import Finite, array_kind, converter

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


class Color(StrEnum):
    RED = "red"
    BLUE = "blue"


def test_fields_keep_numbers_as_they_are_declared() -> None:
    number = converter(float)
    for given in (1, Fraction(1), np.float32(1), np.int8(1)):
        assert (number.convert(given), type(number.convert(given))) == (1.0, float)
    assert not number.fits(True)
    assert not number.fits(10**400)
    assert converter(float | tuple[float, ...]).convert([1, 2]) == (1.0, 2.0)
    assert type(converter(float, freeze=False).convert(1)) is int


def test_members_of_enumerations_may_be_given_by_their_texts() -> None:
    assert converter(Color).convert("red") is Color.RED
    assert converter(Color).words == "one of red, blue"
    assert not converter(Color).fits("green")
    assert not converter(Color, freeze=False).fits("red")


def test_each_element_of_an_array_is_in_the_range() -> None:
    for annotation in (NDArray[np.float64], ArrayLike):
        shares = converter(Annotated[annotation, Ge(0), Lt(1), Finite])
        assert shares.words == "an array of finite numbers in [0, 1)"
        assert shares.convert([[0, 0.5]]).tolist() == [[0.0, 0.5]]
        for wrong, culprit in (([0.5, -1], "-1.0 in it"), ([np.nan], "nan in it"), ("x", "'x'")):
            assert not shares.fits(wrong)
            assert shares.culprit is not None
            assert shares.culprit(wrong) == culprit
    assert not converter(Annotated[NDArray[np.intp], MinLen(1)]).fits([])


def test_arrays_are_not_converted_to_a_type_that_cannot_hold_them() -> None:
    codes = converter(NDArray[np.uint8])
    assert codes.convert([[1, 255]]).dtype == np.uint8
    assert not codes.fits([[1, 257]])
    assert not codes.fits([-1])
