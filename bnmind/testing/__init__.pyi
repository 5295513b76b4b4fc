# The names of `bnmind.testing`, for type checkers and `bnmind._front_door`: the one list.

from bnmind.errors import ContractError as ContractError
from bnmind.testing.adaptive import check_selector as check_selector
from bnmind.testing.adaptive import check_skill_distribution as check_skill_distribution
from bnmind.testing.adaptive import check_stopper as check_stopper
from bnmind.testing.games import check_score as check_score
from bnmind.testing.games import check_strategy as check_strategy
from bnmind.testing.games import check_tree_format as check_tree_format
from bnmind.testing.networks import check_format as check_format
from bnmind.testing.networks import check_functional_node as check_functional_node
from bnmind.testing.networks import check_order_finder as check_order_finder
from bnmind.testing.response_models import check_response_model as check_response_model
