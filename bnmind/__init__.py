"""Adaptive testing with Bayesian networks: Mastermind with noise, skills tests, exact inference.

The names below are imported when they are first used; `bnmind/__init__.pyi` lists them.

Examples
--------
>>> import bnmind
>>> network = bnmind.read("models/mastermind-3x4.bif")
>>> answer = bnmind.posterior(network, {"T1": "1", "T2": "1", "T3": "2", "P": "1"}, ["H1", "H3"])
>>> answer
Posterior(2 targets, log_evidence=-5.02193)
H1  1 0.333  2 0.222  3 0.222  4 0.222
H3  1 0.222  2 0.333  3 0.222  4 0.222
>>> round(answer["H3"]["2"], 3)
0.333
"""


def __getattr__(name: str) -> object:
    """Import the object of a public name, and keep it for the next time."""
    # Not at the top: until the command line listens, Ctrl-C would print the stack of an import.
    import bnmind._front_door as front_door

    value = globals()[name] = front_door.find(__name__, name)
    return value


def __dir__() -> list[str]:
    """Return the public names, and the attributes of every module."""
    import bnmind._front_door as front_door

    hidden = [name for name in globals() if name.startswith("__")]
    return sorted({*front_door.homes(__name__), "__version__", *hidden})
