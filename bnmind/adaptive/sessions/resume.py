"""Saved sessions that hold their own design."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path

from bnmind._arguments import checked
from bnmind.adaptive.items.bank import ItemBank
from bnmind.adaptive.sessions.design import Design
from bnmind.adaptive.sessions.design_file import design_from
from bnmind.adaptive.sessions.session import Session
from bnmind.adaptive.sessions.session_files import read_log
from bnmind.errors import SessionFileError

__all__ = ["design_saved", "resume_session"]


@checked
def resume_session(
    path: str | os.PathLike[str], bank: ItemBank, *, salvage: bool = False
) -> Session:
    """Return the session in a file, with the design of `read_design` that the file holds.

    Parameters
    ----------
    path, salvage
        As for `Session.load`.
    bank
        The item bank.

    Raises
    ------
    SessionFileError
        If the file cannot be read, holds no design, or is of another bank.
    ModelFileError
        If its design does not fit the bank any more.
    """
    # The bank of the session is that of its design, which may have another prior.
    saved = read_log(Path(path), None, salvage=salvage)
    design = design_saved(saved.about, bank)
    if design is None:
        raise SessionFileError(
            f"{os.fspath(path)} holds no design; load it with Session.load and its design",
            os.fspath(path),
        )
    return Session.load(path, design, salvage=salvage)


def design_saved(about: Mapping[str, str], bank: ItemBank) -> Design | None:
    """Return the design among the texts of a saved session; None if there is none."""
    if "design" not in about:
        return None
    try:
        content = json.loads(about["design"])
        if not isinstance(content, dict):
            raise ValueError(content)
    except (ValueError, RecursionError) as fault:
        raise SessionFileError("the design in the saved session is damaged", "design") from fault
    return design_from(content, bank)
