# The names of `bnmind.rank_one`, for type checkers and `bnmind._front_door`: the one list.

from bnmind.rank_one.chains import chain_form as chain_form
from bnmind.rank_one.terms import RANK_ONE_TERMS as RANK_ONE_TERMS
from bnmind.rank_one.terms import RankOne as RankOne
from bnmind.rank_one.terms import Terms as Terms
from bnmind.rank_one.terms import factorize as factorize
from bnmind.rank_one.terms import rank_one_form as rank_one_form
