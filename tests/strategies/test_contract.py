from __future__ import annotations

import pytest
from contracts.strategy_contract import StrategyContract

from aegisbo.strategies.registry import STRATEGIES, resolve

WITH_PARAMETERS = [
    "aegis:gamma=0.2,epsilon=faster",
    "aegis:epsilon=0,guard=on",
    "aegis-no-exploit:guard=on",
    "playbook:guard=on",
    "random:n=3",
]


class TestEveryStrategy(StrategyContract):
    @pytest.fixture(params=[*STRATEGIES, *WITH_PARAMETERS])
    def strategy(self, request):
        return resolve(request.param, "paper")
