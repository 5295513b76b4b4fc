"""The forms of answers, for the schema of the API.

Answers are not checked against their forms while the server runs; a test checks that they satisfy
them, and that there are no fields beside.
"""

from __future__ import annotations

from types import UnionType
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

__all__ = ["REFUSALS", "Answer", "answered_by"]


class Answer(BaseModel):
    """An answer; it has no fields beside."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Fault(Answer):
    """Why there is no answer."""

    kind: str = Field(
        description="A name for programs: that of an error of the library, Busy, TooSlow, …"
    )
    message: str = Field(description="A sentence for people.")


class Refusal(Answer):
    """The form of all answers to questions that have none."""

    error: Fault


def answered_by(form: type[Answer] | UnionType) -> dict[int | str, dict[str, Any]]:
    """Return the form of the answers of an address, as its decorator takes it."""
    return {200: {"model": form, "description": "The answer."}}


def _refused(description: str) -> dict[str, Any]:
    return {"model": Refusal, "description": description}


REFUSALS: dict[int | str, dict[str, Any]] = {
    422: _refused("The question is impossible, or not of the form."),
    503: _refused("The server is busy, or the answer took too long."),
}
"""The form of refusals, for all addresses."""
