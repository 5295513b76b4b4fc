"""Questions to any network: which variable to observe next, and the worth of observing it.

The names are imported when they are first used; `bnmind/questions/__init__.pyi` lists them.
"""

import bnmind._front_door as _front_door

__getattr__, __dir__ = _front_door.door(__name__)
