"""The settings of a mental model: its question, when it refreshes itself, what it reads."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

from nicegui import ui

from adapters.console.cron_words import NotCron, in_words, next_runs
from adapters.console.elements import box, button, field, heading, note, select, text, with_query
from adapters.console.model_frame import model_frame
from adapters.console.page_api import Bank, PageApi, page, told
from adapters.console.pages.mental_models import split_tags
from adapters.console.words import FACT_TYPES, short

MODES = {"delta": "Edit it: change only what new facts change", "full": "Rewrite it each time"}
WHEN = {
    "hand": "Only when somebody asks",
    "writes": "After memory was written and consolidated",
    "cron": "By the clock",
}
BUDGETS = {None: "As the service has it", "low": "Low: quick", "mid": "Middle", "high": "High: thorough"}
MATCHES = {
    None: "As usual",
    "any": "Any of the tags, or none at all",
    "all": "All of the tags, or none at all",
    "any_strict": "Any of the tags",
    "all_strict": "All of the tags",
    "exact": "Exactly these tags",
}
YES_NO = {None: "As the service has it", True: "Yes", False: "No"}
READABLE = {name: FACT_TYPES[name] + "s" for name in ("world", "experience", "observation")}


class NotJson(ValueError):
    """A field that has to be JSON is not; the text says which and where."""


def register() -> None:
    page("/banks/{bank_id}/models/{mental_model_id}/trigger", "Settings")(settings)


async def settings(api: PageApi, bank_id: str, mental_model_id: str, *, saved: str = "") -> None:
    bank = Bank(api, bank_id)
    model = await bank.get("mental-models", mental_model_id)
    with model_frame(bank, model, "trigger"):
        if saved:
            note("Saved.")
        form = _Form(model)
        with box("actions"):
            button("Save", told(lambda: form.save(bank)), "main")


class _Form:
    """Fields with what the model says now; `changes` is what a PATCH needs to say."""

    def __init__(self, model: dict[str, Any]) -> None:
        self._model = model
        self._trigger: dict[str, Any] = model.get("trigger") or {}
        self._inputs: dict[str, Any] = {}
        self._identity()
        self._when()
        self._what()
        self._expert()

    def _identity(self) -> None:
        with box("panel section"):
            heading("Question")
            self._name = field("Name", self._model["name"])
            self._query = field("Which question does it answer?", self._model.get("source_query") or "", lines=2)
            with box("field-row"):
                self._tags = field("Tags", ", ".join(self._model["tags"]), "With commas between them")
                self._length = self._number("Length in tokens", self._model.get("max_tokens"), 256, 8192)

    def _when(self) -> None:
        trigger = self._trigger
        now = (
            "cron"
            if trigger.get("refresh_cron")
            else "writes"
            if trigger.get("refresh_after_consolidation")
            else "hand"
        )
        with box("panel section"):
            heading("When it is refreshed")
            with box("field-row"):
                self._chosen = select("Refresh it", WHEN, now)
                self._inputs["mode"] = select("How", MODES, trigger.get("mode") or "full")
            clock = box("stack tight")
            with clock:
                self._cron = _Cron("Cron expression (UTC)", trigger.get("refresh_cron") or "")
            clock.bind_visibility_from(self._chosen, "value", lambda value: value == "cron")
            self._full_cron = _Cron(
                "Rewrite it from scratch by the clock (optional)", trigger.get("full_refresh_cron") or ""
            )
            self._inputs["min_refresh_interval_seconds"] = self._number(
                "Least time between two automatic refreshes, in seconds", trigger.get("min_refresh_interval_seconds"), 0
            )

    def _what(self) -> None:
        trigger = self._trigger
        with box("panel section"):
            heading("What it reads")
            with box("field-row"):
                self._types = ui.select(
                    READABLE,
                    label="Kinds (none: all of them)",
                    value=list(trigger.get("fact_types") or ()),
                    multiple=True,
                ).props("outlined dense use-chips")
                self._inputs["tags_match"] = select("Which tags a memory needs", MATCHES, trigger.get("tags_match"))
                self._inputs["budget"] = select("How thoroughly it looks", BUDGETS, trigger.get("budget"))
                self._inputs["include_chunks"] = select(
                    "Also the texts around facts", YES_NO, trigger.get("include_chunks")
                )
            self._groups = field("Tag groups (JSON)", _json(trigger.get("tag_groups")), lines=2, mono=True)
            self._inputs["exclude_mental_models"] = ui.switch(
                "Read no other mental models", value=bool(trigger.get("exclude_mental_models"))
            )
            self._excluded = field(
                "Mental models not to read",
                ", ".join(trigger.get("exclude_mental_model_ids") or ()),
                "Ids, with commas between them",
            )

    def _expert(self) -> None:
        names = {
            "recall_max_tokens": "Tokens of facts a recall may bring",
            "recall_chunks_max_tokens": "Tokens of texts a recall may bring",
            "reflect_search_observations_max_tokens": "Tokens of observations a search may bring",
        }
        with box("panel section"):
            heading("Limits and output")
            with box("field-row"):
                for name, label in names.items():
                    self._inputs[name] = self._number(label, self._trigger.get(name), 1)
                entities = "reflect_search_observations_include_entities"
                self._inputs[entities] = select("Names with observations", YES_NO, self._trigger.get(entities))
            self._schema = field(
                "Structured view: a JSON schema (optional)",
                _json(self._trigger.get("response_schema")),
                lines=3,
                mono=True,
            )
            self._inputs["keep_trace"] = ui.switch(
                "Keep the trace of each refresh", value=bool(self._trigger.get("keep_trace"))
            )

    def _number(self, label: str, value: Any, least: int, most: int | None = None) -> ui.number:
        return ui.number(label, value=value, min=least, max=most, precision=0).props("outlined dense clearable")

    def changes(self) -> dict[str, Any]:
        """Raises NotJson."""
        trigger = {name: _plain(each.value) for name, each in self._inputs.items()}
        trigger |= {
            "refresh_after_consolidation": self._chosen.value == "writes",
            "refresh_cron": self._cron.value if self._chosen.value == "cron" else None,
            "full_refresh_cron": self._full_cron.value,
            "fact_types": self._types.value or None,
            "tag_groups": _read_json("Tag groups", self._groups.value),
            "exclude_mental_model_ids": split_tags(self._excluded.value) or None,
            "response_schema": _read_json("The schema", self._schema.value),
        }
        return {
            "name": self._name.value,
            "source_query": self._query.value,
            "tags": split_tags(self._tags.value),
            "max_tokens": _plain(self._length.value),
            "trigger": trigger,
        }

    async def save(self, bank: Bank) -> None:
        try:
            changes = self.changes()
        except NotJson as error:
            ui.notify(str(error), type="warning")
            return
        await bank.ask("PATCH", "mental-models", self._model["id"], body=changes, if_match=self._model["version"])
        ui.navigate.to(with_query(bank.model_page(self._model["id"], "trigger"), {"saved": 1}))


class _Cron:
    """A cron expression with what it means beside it, as it is typed."""

    def __init__(self, label: str, value: str) -> None:
        self._input = field(label, value, mono=True)
        self._input.props["placeholder"] = "minute hour day month weekday, such as 0 6 * * 1-5"
        self._preview = box("stack tight", role="status")
        self._input.on_value_change(lambda _: self._tell())
        self._tell()

    @property
    def value(self) -> str | None:
        return (self._input.value or "").strip() or None

    def _tell(self) -> None:
        self._preview.clear()
        if self.value is None:
            return
        with self._preview:
            for line in preview(self.value, datetime.now(UTC)):
                text(line, "muted")


def preview(expression: str, now: datetime) -> list[str]:
    """What a cron expression means, and when it fires next; or what is wrong with it."""
    try:
        runs = next_runs(expression, now)
    except NotCron as error:
        return [f"This {error}"]
    return [f"{in_words(expression)} (UTC)", f"Next: {'; '.join(map(short, runs))}"]


def _plain(value: Any) -> Any:
    """Numbers of the browser are whole here; an emptied field is no value."""
    return int(value) if isinstance(value, float) else None if value == "" else value


def _json(value: Any) -> str:
    return "" if value is None else json.dumps(value, ensure_ascii=False, indent=2)


def _read_json(name: str, given: str | None) -> Any:
    if not (given or "").strip():
        return None
    try:
        return json.loads(given or "")
    except ValueError as error:
        raise NotJson(f"{name}: this is no JSON: {error}") from error
