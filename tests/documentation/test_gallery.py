"""Each picture of the gallery is drawn by the code beside it."""

from __future__ import annotations

import re

import pytest

from docs.make_gallery import HERE, PAGE, PICTURE, pictures

TEXT = PAGE.read_text(encoding="utf-8")


def test_every_picture_has_its_code_and_its_file() -> None:
    shown = PICTURE.findall(TEXT)
    assert len(shown) >= 8
    for file, name in shown:
        before = TEXT[: TEXT.index(file)]
        assert re.search(rf"^>>> {name} = ", before, re.MULTILINE), name
        assert (HERE / "images" / file).is_file()
    kept = {path.name for path in (HERE / "images").glob("gallery-*")}
    assert kept == {file for file, _ in shown}


@pytest.mark.slow
def test_the_kept_pictures_are_those_of_the_code() -> None:
    for file, content in pictures(TEXT).items():
        kept = (HERE / "images" / file).read_bytes()
        if file.endswith(".svg"):
            assert content == kept, "run python docs/make_gallery.py"
        else:  # the libraries of matplotlib draw letters in other ways
            assert content[:8] == kept[:8] == b"\x89PNG\r\n\x1a\n"
