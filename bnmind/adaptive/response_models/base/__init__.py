"""The interface of response models, and functions that the models share."""

from bnmind.adaptive.response_models.base.model import (
    MadeForSkills,
    ResponseModel,
    check_item,
    check_skills,
    made_for_skills,
    mastery,
    one_each,
    refuse_large,
    response_channel,
    table,
)

__all__ = [
    "MadeForSkills",
    "ResponseModel",
    "check_item",
    "check_skills",
    "made_for_skills",
    "mastery",
    "one_each",
    "refuse_large",
    "response_channel",
    "table",
]
