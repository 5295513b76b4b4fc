"""Mastermind: boards, codes, replies, noise channels, and beliefs about the secret code.

The names are imported when they are first used; `bnmind/mastermind/__init__.pyi` lists them.
"""

import bnmind._front_door as _front_door
from bnmind.mastermind.reply import reply as reply  # else the name would be that of the module


def __getattr__(name: str) -> object:
    """Import the object of a public name, and keep it for the next time."""
    value = globals()[name] = _front_door.find(__name__, name)
    return value


def __dir__() -> list[str]:
    """Return the public names, the rooms imported so far, and the attributes of every module."""
    return sorted({*_front_door.homes(__name__), "__all__", *globals()})
