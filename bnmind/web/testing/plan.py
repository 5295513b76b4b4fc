"""The test that a server gives: its design, its pictures, and who may take it."""

from __future__ import annotations

import base64
import binascii
import dataclasses
import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType

from bnmind.adaptive import Design, ItemBank, read_bank, read_design
from bnmind.adaptive.sessions.session_json import bank_fingerprint
from bnmind.datasets import example_path
from bnmind.errors import InvalidModelError

__all__ = ["GivenTest", "Picture", "demonstration_plan", "read_plan"]

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
    DesignFileError
        If the design does not fit the bank.
    InvalidModelError
        If a picture is missing, too large, or of a kind that pages do not show.
    """
    items = read_bank(bank)
    if not items.title:
        items = dataclasses.replace(items, title=bank.stem)
    chosen = Design(items) if design is None else read_design(design, items)
    return GivenTest(design=chosen, pictures=_pictures(chosen.bank, bank.parent))


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
