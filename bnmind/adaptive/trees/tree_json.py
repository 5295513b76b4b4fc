"""Trees of items as JSON, which can be read again with their bank.

``{"format": …, "version": 1, "title": …, "skills": […], "tree": {"item": …, "responses": {…}}}``.
Every point says with which probability a test comes there, and what is known there.
"""

from __future__ import annotations

import json
from typing import Any

from bnmind._files import parse_document
from bnmind._messages import shown
from bnmind.adaptive.items.bank import ItemBank
from bnmind.adaptive.trees.item_tree import Branch, ItemNode, ItemTree, item_tree
from bnmind.errors import BnmindError, ModelFileError

__all__ = ["tree_from_json", "tree_to_json"]

FORMAT = "bnmind-item-tree"
VERSION = 1
_DEEPEST = 200


def tree_to_json(tree: ItemTree) -> str:
    """Return a tree as JSON."""
    bank = tree.bank
    document = {
        "format": FORMAT,
        "version": VERSION,
        "title": bank.title,
        "skills": list(bank.skills),
        "expected": {
            "entropy": tree.entropy,
            "pattern_accuracy": tree.pattern_accuracy,
            "attribute_accuracy": tree.attribute_accuracy,
            "length": tree.length,
            "cost": tree.cost,
        },
        "tree": _nested(bank, tree.root),
    }
    return json.dumps(document, indent=1) + "\n"


def _nested(bank: ItemBank, node: ItemNode) -> dict[str, Any]:
    known: dict[str, Any] = {
        "probability": node.probability,
        "entropy": node.entropy,
        "profile": [
            bank.variable(skill).states[level]
            for skill, level in zip(bank.skills, node.profile, strict=True)
        ],
        "profile_probability": node.profile_probability,
    }
    if node.item is None:
        levels = zip(bank.skills, node.skills, strict=True)
        return {**known, "skills": {skill: list(chances) for skill, chances in levels}}
    below = {response: _nested(bank, child) for response, child in node.children}
    return {"item": node.item, **known, "responses": below}


def tree_from_json(text: str, bank: ItemBank) -> ItemTree:
    """Return the tree in JSON; probabilities are those of the bank, not of the file.

    Raises
    ------
    ModelFileError
        If the text is not such a tree, or the tree does not fit the bank.
    """
    document = parse_document(text, FORMAT, VERSION)
    try:
        return item_tree(bank, _branch(bank, document.get("tree"), ()))
    except ModelFileError:
        raise
    except BnmindError as error:
        raise ModelFileError(f"the tree does not fit the bank: {error}", text) from error


def _branch(bank: ItemBank, value: object, before: tuple[str, ...]) -> Branch:
    where = f"after {', '.join(before[-3:])}" if before else "at the root"
    if not isinstance(value, dict) or len(before) > _DEEPEST:
        raise ModelFileError(f"expected a point of a tree {where}, got {shown(value)}", value)
    item, responses = value.get("item"), value.get("responses", {})
    if item is None:
        return Branch()
    if not isinstance(item, str) or not isinstance(responses, dict) or not responses:
        raise ModelFileError(f"expected an item with its responses {where}", value)
    return Branch(
        item,
        {
            bank.response(item, name): _branch(bank, below, (*before, f"{item}={name}"))
            for name, below in responses.items()
        },
    )
