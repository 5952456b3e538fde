"""How many facts a recall looks at."""

from __future__ import annotations

from domain.bank_config import BankConfig
from domain.memory import Budget


def most_facts(config: BankConfig, budget: Budget, max_tokens: int) -> int:
    """As the bank says, whatever the text may be (`fixed`), or in proportion to it (`adaptive`). The system of
    reference, "Budget -> candidate budget"."""
    if config.recall_budget_function == "fixed":
        fixed = {
            "low": config.recall_budget_fixed_low,
            "mid": config.recall_budget_fixed_mid,
            "high": config.recall_budget_fixed_high,
        }
        return fixed[budget]
    shares = {
        "low": config.recall_budget_adaptive_low,
        "mid": config.recall_budget_adaptive_mid,
        "high": config.recall_budget_adaptive_high,
    }
    return max(config.recall_budget_min, min(config.recall_budget_max, round(max_tokens * shares[budget])))
