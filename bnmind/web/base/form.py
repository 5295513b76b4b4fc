"""The base class of questions."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict

__all__ = ["Form"]


class Form(BaseModel):
    """A question; names that it does not know are faults."""

    model_config = ConfigDict(extra="forbid", frozen=True)
