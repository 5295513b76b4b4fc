# The names of `bnmind.testing`, for type checkers and `bnmind._front_door`: the one list.

from bnmind.errors import ContractError as ContractError
from bnmind.testing.formats import check_format as check_format
from bnmind.testing.functional_nodes import check_functional_node as check_functional_node
from bnmind.testing.order_finders import check_order_finder as check_order_finder
from bnmind.testing.response_models import check_response_model as check_response_model
from bnmind.testing.scores import check_score as check_score
from bnmind.testing.selectors import check_selector as check_selector
from bnmind.testing.skill_distributions import check_skill_distribution as check_skill_distribution
from bnmind.testing.stoppers import check_stopper as check_stopper
from bnmind.testing.strategies import check_strategy as check_strategy
from bnmind.testing.tree_formats import check_tree_format as check_tree_format
