"""Trees of questions about one hidden state: the best trees, and the best fixed lists.

The names are imported when they are first used; `bnmind/questions/trees/__init__.pyi` lists them.
"""

import bnmind._front_door as _front_door

__getattr__, __dir__ = _front_door.door(__name__)
