"""Earlier versions of a test, with other banks or designs, whose sessions are in its database.

A session goes on with the bank and the design with which it was begun: answers to one design say
little about what another one would have asked. The database holds both for this. An access code
that nobody has used yet is handed over to the new version. A version is a test of the same title.
"""

from __future__ import annotations

import contextlib
import json
from dataclasses import dataclass

from fastapi import HTTPException

from bnmind.adaptive import Design, ItemBank
from bnmind.adaptive.items.records import bank_from_json, bank_to_json
from bnmind.adaptive.sessions.design_file import design_from
from bnmind.errors import BnmindError
from bnmind.web.base import words
from bnmind.web.testing.plan import GivenTest, completed
from bnmind.web.testing.store import Store

__all__ = ["Earlier", "content_of", "earlier", "given_from", "hand_over", "other_test"]


@dataclass(frozen=True, kw_only=True)
class Earlier:
    """The sessions of earlier versions of a test."""

    going_on: int
    over: int
    handed_over: int = 0
    """How many access codes that nobody had used belong to the new version now."""

    @property
    def words(self) -> str:
        """What happens to them; empty if there are none."""
        said = []
        if self.handed_over:
            codes = words.counted(self.handed_over, "access code", "access codes")
            said.append(f"{codes} of an earlier version, not used before, open this one now.")
        if self.going_on or self.over:
            some = words.counted(self.going_on, "session goes", "sessions go")
            over = words.counted(self.over, "is", "are")
            said.append(
                f"With an earlier bank or design, {some} on as begun, and {over} over: to see and"
                " export them, start bnmind web with the earlier files."
            )
        return " ".join(said)


def content_of(given: GivenTest) -> str:
    """Return the bank and the design of a test as text; empty if the bank is too large."""
    try:
        return json.dumps({"bank": bank_to_json(given.bank), "design": given.design.text})
    except BnmindError:
        return ""


def given_from(content: str, now: GivenTest) -> GivenTest:
    """Return a test from its text, with those pictures that the present version has, too."""
    record = json.loads(content)
    bank: ItemBank = bank_from_json(record["bank"])
    stated = design_from(json.loads(record["design"]), bank) if record["design"] else Design(bank)
    design = completed(stated, bank)
    same = set(enumerate(bank.items)) & set(enumerate(now.bank.items))
    names = {item.name for _, item in same}
    pictures = {name: one for name, one in now.pictures.items() if name in names}
    return GivenTest(design=design, pictures=pictures)


def hand_over(store: Store, given: GivenTest) -> int:
    """Keep a test in its database, and hand unused codes of earlier versions over to it.

    Returns
    -------
    int
        The number of these codes.
    """
    store.keep_test(given.key, title=given.bank.title, content=content_of(given))
    return store.hand_over(given.key, title=given.bank.title)


def earlier(store: Store, given: GivenTest, *, handed_over: int = 0) -> Earlier:
    """Return how many sessions of earlier versions there are."""
    going_on, over = store.sessions_of_others(given.key, title=given.bank.title)
    return Earlier(going_on=going_on, over=over, handed_over=handed_over)


def other_test(store: Store, owner: str, now: GivenTest) -> GivenTest:
    """Return the test of a session that was begun with another bank or design.

    Raises
    ------
    HTTPException
        410 if the session cannot go on here; the message says why.
    """
    title, content = store.kept_test(owner)
    if title and title != now.bank.title:
        raise HTTPException(410, f"This session is of another test: {title}.")
    found = None
    with contextlib.suppress(BnmindError, ValueError, KeyError):  # written by another version
        found = given_from(content, now) if content else None
    if found is not None and found.key == owner:
        return found
    raise HTTPException(
        410,
        "This session was begun with another bank or design, which this server does not know any"
        " more. Your answers are saved. Ask your teacher for a new access code.",
    )
