"""Who answers for a bank: its mission, its disposition, and the rules it keeps to.

Source: spec of the system of reference, reflect: "Persona" and "Setup".
"""

from __future__ import annotations

from domain.bank_config import BankConfig
from domain.directives import Directive, applicable
from domain.scope import Scope
from domain.value import Value

NEUTRAL_TRAIT = 3


class Persona(Value):
    """`mission` is what the bank is for, in its owner's words. Traits go from 1 to 5. `directives` are the active ones
    of the bank, or, once chosen for an answer, those it keeps to, the most important first."""

    mission: str | None = None
    skepticism: int = NEUTRAL_TRAIT
    literalism: int = NEUTRAL_TRAIT
    empathy: int = NEUTRAL_TRAIT
    directives: tuple[Directive, ...] = ()

    @property
    def is_neutral(self) -> bool:
        return self.skepticism == self.literalism == self.empathy == NEUTRAL_TRAIT

    def asked_in(self, scope: Scope, *, all_directives: bool = False) -> Persona:
        """As it answers in a scope: directives that are not for it are left out, unless all are asked for."""
        chosen = applicable(self.directives, scope, apply_all=all_directives)
        return self.model_copy(update={"directives": chosen})


NOBODY = Persona()
"""Of a bank that says nothing of itself."""


def persona_of(config: BankConfig, directives: tuple[Directive, ...]) -> Persona:
    mission = (config.reflect_mission or "").strip()
    return Persona(
        mission=mission or None,
        skepticism=config.disposition_skepticism or NEUTRAL_TRAIT,
        literalism=config.disposition_literalism or NEUTRAL_TRAIT,
        empathy=config.disposition_empathy or NEUTRAL_TRAIT,
        directives=directives,
    )
