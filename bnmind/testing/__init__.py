"""Contract tests: what each family of interchangeable parts promises, as functions to call.

Write a strategy, a selector or a format of your own, and let the check of its family try it. A
check returns nothing if all promises are kept, and raises `bnmind.errors.ContractError`, an
`AssertionError`, if one is broken: with the promise, and an example that breaks it. A check takes
an object, or the name of a registered member. For a name it also checks that the help lists it,
that a misspelled one is answered with it, and that its class is a public name of its room.

Neither pytest nor Hypothesis is needed. The examples are drawn with fixed seeds: a check that
passes today passes tomorrow. With ``thorough=True`` it tries many more of them.

The names are imported when they are first used; `bnmind/testing/__init__.pyi` lists them.

Examples
--------
>>> from bnmind.adaptive import EntropyBelow
>>> from bnmind.testing import check_stopper
>>> check_stopper(EntropyBelow(0.5))
>>> check_stopper("items")
"""

import bnmind._front_door as _front_door

__getattr__, __dir__ = _front_door.door(__name__)
