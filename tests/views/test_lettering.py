"""Shortened texts: as long as there is room, and found in one pass over the text."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bnmind.views import draw as lettering
from bnmind.views.draw import columns_of, shorten_to_columns

LETTERS = st.sampled_from("ab1 \u0301\u8a9e\uff21")


def slowly_shortened(text: str, room: int) -> str:
    """Return the longest shortening that fits, each one measured as a whole."""
    if columns_of(text) <= room:
        return text
    for kept in range(len(text) - 1, 0, -1):
        last = min(kept // 4, 4)
        short = f"{text[: kept - last]}…{text[len(text) - last :]}"
        if columns_of(short) <= room:
            return short
    return "…"


@given(st.text(LETTERS, max_size=60), st.integers(1, 40))
def test_shortening_in_one_pass_agrees_with_trying_all_lengths(text: str, room: int) -> None:
    assert shorten_to_columns(text, room) == slowly_shortened(text, room)


def test_each_character_is_measured_once(monkeypatch: pytest.MonkeyPatch) -> None:
    measured = 0

    class Counting:
        @staticmethod
        def combining(letter: str) -> int:
            nonlocal measured
            measured += 1
            return unicodedata.combining(letter)

        east_asian_width = staticmethod(unicodedata.east_asian_width)

    monkeypatch.setattr(lettering, "unicodedata", Counting)
    assert shorten_to_columns("n" * 8000, 20) == "nnnnnnnnnnnnnnn…nnnn"
    assert measured < 8100
    assert len(lettering.shorten("n" * 8000, 100.0, 11.0)) < 30
    assert measured < 16_200
