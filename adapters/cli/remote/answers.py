"""What memory is asked: `memory recall` and `memory reflect`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Annotated, Any

import typer

from adapters.cli.remote.inputs import given, given_json, given_text, names
from adapters.cli.remote.remote import Server, Tags
from adapters.cli.remote.shared_options import Shared, command
from adapters.cli.unusable import Unusable

if TYPE_CHECKING:
    from rich.console import RenderableType

Query = Annotated[str, typer.Argument(metavar="QUERY", help="What is asked; @FILE, or - for standard input.")]
Types = Annotated[list[str] | None, typer.Option("--fact-types", metavar="A,B", help="world, experience, observation.")]
Budget = Annotated[str | None, typer.Option(metavar="BUDGET", help="low, mid or high.")]
MaxTokens = Annotated[int | None, typer.Option(metavar="N", help="Length, in tokens.")]


def _scope(
    tags: Tags = None,
    tags_match: Annotated[
        str | None, typer.Option(metavar="MODE", help="any, all, any_strict, all_strict or exact.")
    ] = None,
    tag_groups: Annotated[
        str | None, typer.Option(metavar="JSON", help="Groups of tags in place of tags: JSON, @FILE or -.")
    ] = None,
) -> dict[str, Any]:
    """Which memories are meant."""
    return given(tags=names(tags), tags_match=tags_match, tag_groups=given_json(tag_groups, "--tag-groups"))


Scope = Annotated[dict[str, Any], Shared(_scope)]


def add_to(app: typer.Typer) -> None:
    """Adds the commands to the group of memories."""
    command(app, "recall")(recall)
    command(app, "reflect")(reflect)


def recall(
    server: Server,
    query: Query,
    scope: Scope,
    fact_types: Types = None,
    budget: Budget = None,
    max_tokens: MaxTokens = None,
    prefer_observations: Annotated[
        bool | None, typer.Option("--prefer-observations/--no-prefer-observations", help="Before their facts.")
    ] = None,
    at: Annotated[str | None, typer.Option(metavar="TIME", help='What "yesterday" counts from.')] = None,
    since: Annotated[str | None, typer.Option(metavar="TIME", help="With --until: the time that is meant.")] = None,
    until: Annotated[str | None, typer.Option(metavar="TIME")] = None,
    chunks: Annotated[bool, typer.Option("--chunks", help="With the texts that facts come from.")] = False,
    source_facts: Annotated[bool, typer.Option("--source-facts", help="With what observations rest on.")] = False,
    min_scores: Annotated[
        str | None, typer.Option(metavar="JSON", help='Such as {"semantic": 0.3}: JSON, @FILE or -.')
    ] = None,
    trace: Annotated[bool, typer.Option("--trace", help="How it was searched (in the JSON).")] = False,
) -> None:
    """Facts near a question, best first."""
    if (since is None) != (until is None):
        raise Unusable("--since and --until go together: both ends of the time that is meant")
    include = given(chunks={} if chunks else None, source_facts={} if source_facts else None)
    options = given(
        types=names(fact_types),
        budget=budget,
        max_tokens=max_tokens,
        prefer_observations=prefer_observations,
        query_timestamp=at,
        temporal_window=None if since is None else {"start": since, "end": until},
        include=include or None,
        min_scores=given_json(min_scores, "--min-scores"),
        trace=trace or None,
    )
    body = {"query": given_text(query), **scope, **options}
    with server.busy("searching"):
        told = server.ask("POST", "memories", "recall", body=body)
    server.show(told, _recalled)


def reflect(
    server: Server,
    query: Query,
    scope: Scope,
    fact_types: Types = None,
    budget: Budget = None,
    max_tokens: MaxTokens = None,
    facts: Annotated[bool, typer.Option("--facts", help="With what the answer rests on.")] = False,
    trace: Annotated[bool, typer.Option("--trace", help="How it came about (in the JSON).")] = False,
    response_schema: Annotated[
        str | None, typer.Option(metavar="JSON", help="JSON Schema to fill: JSON, @FILE or -.")
    ] = None,
    all_directives: Annotated[bool, typer.Option("--all-directives", help="Whatever their tags.")] = False,
    exclude_mental_models: Annotated[bool, typer.Option("--exclude-models", help="Read no documents.")] = False,
    raw: Annotated[bool, typer.Option("--raw", help="The text of the answer alone, to the byte.")] = False,
) -> None:
    """An answer from documents, observations and facts."""
    include = given(facts={} if facts else None, tool_calls={} if trace else None)
    options = given(
        fact_types=names(fact_types),
        budget=budget,
        max_tokens=max_tokens,
        include=include or None,
        response_schema=given_json(response_schema, "--response-schema"),
        apply_all_directives=all_directives or None,
        exclude_mental_models=exclude_mental_models or None,
    )
    body = {"query": given_text(query), **scope, **options}
    with server.busy("thinking"):
        told = server.ask("POST", "reflect", body=body)
    server.show_document(told, told["text"], raw=raw, render=_answered)


def _recalled(told: Mapping[str, Any]) -> Iterator[RenderableType]:
    from adapters.cli.remote.output import number, table

    def row(number_of_it: int, fact: Mapping[str, Any]) -> tuple[str, ...]:
        date = fact.get("occurred_start") or fact.get("mentioned_at") or "-"
        score = (fact.get("scores") or {}).get("final")
        return str(number_of_it), number(score), fact.get("type") or "-", date[:10], fact["text"]

    rows = (row(place, fact) for place, fact in enumerate(told["results"], start=1))
    yield table("", "score", "type", "date", "text", rows=rows, flow=("text",))
    yield from _named("chunks", [each["text"] for each in (told.get("chunks") or {}).values()])
    yield from _named("source facts", [each["text"] for each in (told.get("source_facts") or {}).values()])


def _answered(told: Mapping[str, Any]) -> Iterator[RenderableType]:
    from adapters.cli.remote.output import as_json, document

    if not told["answer_found"]:
        yield f"No answer: {told.get('no_answer_reason') or 'the memory holds none'}"
    if told["text"]:
        yield document(told["text"])
    if told.get("structured_output") is not None:
        yield as_json(told["structured_output"])
    based_on = told.get("based_on") or {}
    yield from _named("documents", [each["id"] for each in based_on.get("mental_models", ())])
    yield from _named("facts", [each["text"] for each in based_on.get("memories", ())])
    yield from _named("warnings", [*told.get("warnings", ()), *filter(None, [told.get("structured_output_error")])])


def _named(heading: str, texts: list[str]) -> Iterator[RenderableType]:
    from rich.text import Text

    if texts:
        yield Text(f"\n{heading}", style="dim")
        for text in texts:
            yield Text(f"- {text}")
