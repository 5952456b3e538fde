"""What a reflection came to: the answer, and what of all that was shown it rests on.

Evidence is what the mind says it used and was really shown. What it names beside that is dropped, and counted.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from domain.memory import Fact
from domain.mental_model.evidence import evidence_of
from domain.mental_model.record import DirectiveKept, Evidence, FactCount, PageEvidence, ToolCallRecord
from domain.persona import NOBODY, Persona
from domain.reflection import Answer, NoAnswer, PageFound, ToolName, ToolResult
from domain.refresh.run import Candidate, RunFailed
from domain.storable import storable
from domain.usage import ModelCall

RETRIEVAL_EMPTY = "retrieval returned nothing"
NONE_USED = "retrieval found {found} facts but the answer used none of them"
UNKNOWN_CITED = "{count} cited id(s) were never retrieved and are dropped"


@dataclass
class Reflection:
    """What a reflection came to, with all it read and cost; `result` is set when the loop ends. `unanswered` is the
    mind's own word that there is no answer, beside the failure that this is for a document."""

    result: Candidate | RunFailed = field(default_factory=lambda: RunFailed("unexpected_error", "the loop did not run"))
    tools: tuple[ToolName, ...] = ()
    persona: Persona = NOBODY
    tool_results: list[ToolResult] = field(default_factory=list)
    tool_calls: list[ToolCallRecord] = field(default_factory=list)
    evidence: tuple[Evidence, ...] = ()
    used_facts: tuple[Fact, ...] = ()
    used_pages: tuple[PageFound, ...] = ()
    unanswered: NoAnswer | None = None
    calls: list[ModelCall] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    raw_reply: str = ""

    @property
    def retrieved(self) -> tuple[FactCount, ...]:
        """Distinct facts the tools gave, by type."""
        kinds = {found.fact.id: found.fact.fact_type for result in self.tool_results for found in result.facts}
        types = sorted(set(kinds.values()))
        return tuple(FactCount(fact_type=kind, count=list(kinds.values()).count(kind)) for kind in types)

    @property
    def pages(self) -> tuple[PageEvidence, ...]:
        """The mental models it rests on."""
        return tuple(
            PageEvidence(mental_model_id=page.mental_model_id, name=page.name, version=page.version, text=page.content)
            for page in self.used_pages
        )

    @property
    def directives(self) -> tuple[DirectiveKept, ...]:
        """Those it had to keep to."""
        return kept(self.persona)


def kept(persona: Persona) -> tuple[DirectiveKept, ...]:
    return tuple(
        DirectiveKept(directive_id=each.directive_id, name=each.name, content=each.content)
        for each in persona.directives
    )


def conclude(answer: Answer, reflection: Reflection) -> None:
    """The answer with the evidence for it."""
    facts = {str(found.fact.id): found.fact for result in reflection.tool_results for found in result.facts}
    pages = {shown.page.mental_model_id: shown.page for result in reflection.tool_results for shown in result.pages}
    used = [facts[fact_id] for fact_id in dict.fromkeys(answer.used) if fact_id in facts]
    reflection.used_facts = tuple(used)
    reflection.evidence = tuple(map(evidence_of, used))
    reflection.used_pages = tuple(pages[page] for page in dict.fromkeys(answer.pages) if page in pages)
    reflection.raw_reply = answer.raw
    cited = {str(fact.id) for fact in used}
    mentions = tuple(mention for mention in answer.mentions if mention.fact_id in cited)
    reflection.result = Candidate(storable(answer.markdown), mentions)
    unknown = {*answer.unknown, *(set(answer.used) - facts.keys()), *(set(answer.pages) - pages.keys())}
    if unknown:
        reflection.warnings.append(UNKNOWN_CITED.format(count=len(unknown)))
    if not facts and not pages:
        reflection.warnings.append(RETRIEVAL_EMPTY)
    elif not used and not reflection.used_pages:
        reflection.warnings.append(NONE_USED.format(found=len(facts)))
