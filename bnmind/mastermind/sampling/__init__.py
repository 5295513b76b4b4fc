"""Samples of codes: compiled random moves on a code, and what is built from them."""

from bnmind.mastermind.sampling.moves_kernel import (
    Move,
    compare_codes,
    draw_below,
    draw_color_change,
    draw_pair_swap,
    draw_subset_permutation,
    draw_uniform,
    random_code,
    seeded_state,
)

__all__ = [
    "Move",
    "compare_codes",
    "draw_below",
    "draw_color_change",
    "draw_pair_swap",
    "draw_subset_permutation",
    "draw_uniform",
    "random_code",
    "seeded_state",
]
