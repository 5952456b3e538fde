"""A tool: a function over the API; its signature has the arguments, its docstring the description."""

from __future__ import annotations

import inspect
import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from types import UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from pydantic import BaseModel, ConfigDict, ValidationError, create_model

from adapters.mcp.call import Call

Function = Callable[..., Awaitable[Any]]

BANK_ID = "bank_id"
BANK_ARGUMENT: dict[str, Any] = {
    "type": "string",
    "minLength": 1,
    "description": "Which bank; when left out, the one that the connection names (X-Bank-Id), else the server's.",
}


class WrongArguments(Exception):
    """Arguments that a tool does not take; the text names each with what is wrong."""


@dataclass(frozen=True)
class Effect:
    """What a call does, in the terms of the protocol's annotations. No tool reaches beyond the service: none is of an
    open world."""

    reads: bool = False
    destroys: bool = False
    repeatable: bool = False
    """Whether the same call again changes nothing more."""


READS = Effect(reads=True, repeatable=True)
ADDS = Effect()
SETS = Effect(repeatable=True)
DESTROYS = Effect(destroys=True, repeatable=True)


@dataclass(frozen=True)
class Tool:
    """`of_bank`: it works in one bank. `beyond`: it is of all banks, and so not there where only one is served."""

    name: str
    title: str
    description: str
    effect: Effect
    arguments: type[BaseModel]
    function: Function
    of_bank: bool
    beyond: bool

    def schema(self, *, with_bank: bool) -> dict[str, Any]:
        """The JSON schema of its arguments; `with_bank`: one of them may be the bank."""
        if not (with_bank and self.of_bank):
            return self._schema
        return {**self._schema, "properties": {**self._schema["properties"], BANK_ID: BANK_ARGUMENT}}

    @cached_property
    def _schema(self) -> dict[str, Any]:
        schema: dict[str, Any] = _untitled(self.arguments.model_json_schema())
        properties = {name: _plain(each) for name, each in schema.get("properties", {}).items()}
        return {**schema, "properties": properties}

    async def run(self, call: Call, arguments: Mapping[str, Any]) -> Any:
        """What the API told. Raises WrongArguments and ApiFailure."""
        read = self._read(arguments)
        return await self.function(call, **{name: getattr(read, name) for name in self.arguments.model_fields})

    def _read(self, arguments: Mapping[str, Any]) -> BaseModel:
        """Null is as absent, and a list or an object may be given as its JSON: some clients send them so."""
        fields = self.arguments.model_fields
        told = {name: value for name, value in arguments.items() if value is not None}
        for name in told.keys() & fields.keys():
            told[name] = _unpacked(told[name], takes_text=_takes_text(fields[name].annotation))
        try:
            return self.arguments.model_validate(told)
        except ValidationError as error:
            raise WrongArguments("; ".join(self._fault(each) for each in error.errors())) from error

    def _fault(self, fault: Any) -> str:
        where = ".".join(str(part) for part in fault["loc"])
        if fault["type"] == "extra_forbidden" and len(fault["loc"]) == 1:
            return (
                f"{self.name} takes no argument '{where}'; it takes {', '.join(self.arguments.model_fields) or 'none'}"
            )
        if fault["type"] == "extra_forbidden":
            return f"{where}: there is no such field"
        if fault["type"] == "missing":
            return f"{where}: is missing"
        return f"{where}: {fault['msg'].removeprefix('Value error, ')}"


class Tools:
    """The tools of one subject, in the order of their definition."""

    def __init__(self) -> None:
        self.all: list[Tool] = []

    def tool(
        self, title: str, effect: Effect, *, of_bank: bool = True, beyond: bool = False
    ) -> Callable[[Function], Function]:
        """Makes a tool of a function `(call, argument, ...)`: its name, docstring and signature are the tool's."""

        def register(function: Function) -> Function:
            name, told = getattr(function, "__name__", ""), inspect.getdoc(function) or ""
            self.add(name, title, told, effect, function, of_bank=of_bank, beyond=beyond)
            return function

        return register

    def add(
        self,
        name: str,
        title: str,
        description: str,
        effect: Effect,
        function: Function,
        *,
        of_bank: bool = True,
        beyond: bool = False,
    ) -> None:
        """The same for a function that serves several tools: their names and descriptions are given."""
        told = " ".join(description.split())
        arguments = _arguments_of(name, function)
        self.all.append(Tool(name, title, told, effect, arguments, function, of_bank, beyond))


def _arguments_of(name: str, function: Function) -> type[BaseModel]:
    """A model of all parameters but the first, which is the call."""
    _, *parameters = inspect.signature(function, eval_str=True).parameters.values()
    fields: dict[str, Any] = {
        each.name: (each.annotation, ... if each.default is inspect.Parameter.empty else each.default)
        for each in parameters
    }
    return create_model(name, __config__=ConfigDict(extra="forbid"), **fields)


def _takes_text(annotation: Any) -> bool:
    """Whether text is among what may be given; if not, text can only be meant as JSON."""
    if get_origin(annotation) in (Union, UnionType):
        return any(_takes_text(each) for each in get_args(annotation))
    if get_origin(annotation) is Annotated:
        return _takes_text(get_args(annotation)[0])
    return annotation is str or get_origin(annotation) is Literal


def _unpacked(value: Any, *, takes_text: bool) -> Any:
    if not isinstance(value, str) or takes_text:
        return value
    try:
        read = json.loads(value)
    except (ValueError, RecursionError):
        return value
    return read if isinstance(read, dict | list) else value


def _untitled(schema: Any) -> Any:
    """Without titles, which say what names say already. A field may be named `title`: its schema is no text."""
    if isinstance(schema, list):
        return [_untitled(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    return {name: _untitled(each) for name, each in schema.items() if name != "title" or not isinstance(each, str)}


def _plain(schema: dict[str, Any]) -> dict[str, Any]:
    """An argument that may be left out, without the null that only makes longer what a model reads."""
    told = dict(schema)
    if told.get("default", "") is None:
        del told["default"]
    options: list[dict[str, Any]] = [each for each in told.pop("anyOf", []) if each.get("type") != "null"]
    if len(options) == 1:
        return options[0] | told
    return told | ({"anyOf": options} if options else {})
