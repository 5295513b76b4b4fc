"""The test that a server gives: its design, its pictures, and who may take it."""

from __future__ import annotations

import base64
import binascii
import dataclasses
import hashlib
import json
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any

from bnmind.adaptive import Design, ItemBank, read_bank, read_design
from bnmind.adaptive.sessions.design_file import design_from
from bnmind.adaptive.sessions.records import bank_fingerprint
from bnmind.adaptive.stopping.registry import default_stop
from bnmind.datasets import example_path
from bnmind.errors import InvalidModelError, ModelFileError

__all__ = ["GivenTest", "Picture", "completed", "demonstration_plan", "read_plan"]

_VARIED_START = [{"number": 1, "within": 0.1}]
"""So that neighbors do not begin with the same item."""

_KINDS: Mapping[str, str] = MappingProxyType(
    {
        ".gif": "image/gif",
        ".jpeg": "image/jpeg",
        ".jpg": "image/jpeg",
        ".png": "image/png",
        ".svg": "image/svg+xml",
        ".webp": "image/webp",
    }
)
_MOST_BYTES = 5_000_000


@dataclass(frozen=True)
class Picture:
    """A picture of an item."""

    content: bytes = field(repr=False)
    kind: str
    """Its media type."""


@dataclass(frozen=True, kw_only=True)
class GivenTest:
    """The test that a server gives."""

    design: Design
    pictures: Mapping[str, Picture] = field(default_factory=dict)
    """By item."""
    is_demonstration: bool = False
    stops_by_default: bool = False
    """Whether the design does not say when the test ends."""

    @property
    def bank(self) -> ItemBank:
        """The item bank."""
        return self.design.bank

    @property
    def key(self) -> str:
        """A text that differs between tests; the wording of items does not matter."""
        parts = (bank_fingerprint(self.bank), self.design.text, str(self.is_demonstration))
        return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:32]


def read_plan(bank: Path, design: Path | None) -> GivenTest:
    """Return the test of a bank and a design in files.

    Raises
    ------
    ModelFileError
        If a file cannot be read.
    ModelFileError
        If the design does not fit the bank.
    InvalidModelError
        If a picture is missing, too large, or of a kind that pages do not show.
    """
    items = read_bank(bank)
    if not items.title:
        items = dataclasses.replace(items, title=bank.stem)
    stated = Design(items) if design is None else read_design(design, items)
    return GivenTest(
        design=completed(stated, items),
        pictures=_pictures(stated.bank, bank.parent),
        stops_by_default=stated.stopper is None,
    )


def completed(design: Design, bank: ItemBank) -> Design:
    """Return a design with what it leaves open: when the test ends, and a varied first item.

    The first item is drawn among those with nearly as much information as the best one, unless the
    design has a start, or a selector that does not score items. The text stays that of the file,
    so that the test stays the same one.
    """
    content: dict[str, Any] = json.loads(design.text or "{}")
    if design.stopper is None:
        content["stop"] = {"any": list(default_stop(bank))}
    found = design_from(content, bank)
    if "start" not in content:
        with suppress(ModelFileError):
            found = design_from({**content, "start": _VARIED_START}, bank)
    return dataclasses.replace(found, text=design.text)


def demonstration_plan() -> GivenTest:
    """Return a test that needs no files; it shows the examinee all that it can show."""
    bank = read_bank(example_path("banks/fractions.json"))
    design = read_design(example_path("designs/fractions.toml"), bank)
    report = dataclasses.replace(design.report, during=True, answers=True)
    return GivenTest(design=dataclasses.replace(design, report=report), is_demonstration=True)


def _pictures(bank: ItemBank, folder: Path) -> Mapping[str, Picture]:
    """Return the pictures of items, all faults at once."""
    problems: list[str] = []
    pictures = {}
    for item in bank.items:
        if item.picture:
            try:
                pictures[item.name] = _picture(item.picture, folder)
            except (OSError, ValueError, binascii.Error) as fault:
                reason = getattr(fault, "strerror", None) or str(fault)
                problems.append(f"the picture of item {item.name}: {reason}")
    if problems:
        raise InvalidModelError(problems)
    return MappingProxyType(pictures)


def _picture(text: str, folder: Path) -> Picture:
    """Return a picture; raises ValueError or OSError."""
    if text.startswith("data:"):
        head, _, content = text.removeprefix("data:").partition(",")
        kind, _, coding = head.partition(";")
        if kind not in _KINDS.values() or coding != "base64":
            raise ValueError("expected a data address of a PNG, JPEG, GIF, WebP or SVG in base64")
        return Picture(base64.b64decode(content, validate=True), kind)
    path = Path(text)
    if path.is_absolute() or ".." in path.parts:
        raise ValueError(f"expected a file beside the bank, got {text}")
    if path.suffix.lower() not in _KINDS:
        raise ValueError(f"expected a file ending in {', '.join(_KINDS)}, got {text}")
    place = folder / path
    if place.is_file() and place.stat().st_size > _MOST_BYTES:
        raise ValueError(f"{text} has more than {_MOST_BYTES:,} bytes")
    return Picture(place.read_bytes(), _KINDS[path.suffix.lower()])
