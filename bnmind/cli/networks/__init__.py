"""Commands for any network."""

from bnmind.cli.networks.beyond_memory import APPROXIMATIONS

__all__ = ["APPROXIMATIONS"]
