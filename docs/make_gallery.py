"""Draw the pictures of the gallery from its page: ``python docs/make_gallery.py``.

The page is the only source: its code is run, and the thing of each name that the page shows as
``images/gallery-NAME.svg`` or ``.png`` is written there.
"""

from __future__ import annotations

import doctest
import re
import sys
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
PAGE = HERE / "gallery.md"
PICTURE = re.compile(r"\(images/(gallery-(\w+)\.(?:svg|png))\)")


def pictures(page: str) -> dict[str, bytes]:
    """Return the content of each picture of a page by its file, from the code of the page."""
    from bnmind.lab import png

    names: dict[str, Any] = {}
    for example in doctest.DocTestParser().get_examples(page):
        exec(compile(example.source, "page", "single"), names)
    drawn = {file: names[name] for file, name in PICTURE.findall(page)}
    return {
        file: f"{thing.rstrip()}\n".encode() if isinstance(thing, str) else png(thing)
        for file, thing in drawn.items()
    }


def main() -> None:
    """Write the pictures."""
    for file, content in pictures(PAGE.read_text(encoding="utf-8")).items():
        path = HERE / "images" / file
        path.write_bytes(content)
        sys.stdout.write(f"{path.name}: {path.stat().st_size:,} bytes\n")


if __name__ == "__main__":
    main()
