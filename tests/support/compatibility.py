"""docs/compatibility.md, made of the contract, our OpenAPI document and the table of differences.

`python -m tests.support.compatibility > docs/compatibility.md` writes it anew; a test compares the two.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from tests.support.client_methods import NODE, PYTHON, RETIRED
from tests.support.contract_absences import BEYOND_SCHEMAS, NOT_SERVED
from tests.support.contract_comparison import compared
from tests.support.contract_differences import DELIBERATE, GENERAL, Deliberate
from tests.support.our_openapi import our_openapi
from tests.support.wire_contract import Operation, contract, operations

BANK = "/v1/default/banks/{bank_id}"
INTRODUCTION = """\
# Compatibility

Made from the code by `python -m tests.support.compatibility > docs/compatibility.md`; do not edit it by hand.

Palimpsest speaks the REST API of Hindsight 1.1.0. A test compares the two OpenAPI documents: paths, operation ids,
parameters, fields, types, defaults, values and bounds. A request of the contract has to be taken here, and an answer
has to be readable by a client that was made for the contract; whatever a client could notice is listed below with its
reason, or fails the test. Ours may take more than the contract, and promise more. `B` stands for
`/v1/default/banks/{bank_id}`.

- **Names that nobody asked for**, in a body (nested ones too) or in a query, change nothing and are told in the header
  `X-Ignored-Parameters`, each by its place: `trigger.refreshCron`.
- **Null, absent, empty.** Null in a request is as if the field were absent: at creation the default, in a change what
  is stored. Empty (`[]`, `""`) empties what can be empty and is refused with a 422 where it cannot. The fields of a
  `trigger` tell null and absent apart: null sets, absent keeps; and so does `parent_id` of a knowledge node, where
  null is the root. A config key that is null is no longer the bank's own.
- **Answers** leave out fields that are null, as the contract does, except where it says that they are always there.
- **Errors** are `{"detail": text}`, those of validation (422) `{"detail": [{"loc", "msg", "type"}]}`. The OpenAPI
  document of the service (`/openapi.json`) tells the statuses of each route.
- **Ids in paths** are percent-encoded. A bank's id is printable text without `/`; a document's may hold anything that
  can be stored.
"""


def render() -> str:
    theirs, ours = contract(), operations(our_openapi())
    sections = [
        INTRODUCTION,
        "## Differences of all routes\n",
        "\n".join(f"- *{each.kind}*: {each.reason}" for each in GENERAL) + "\n",
        "## Operations\n",
        _table(("operation", "request", "beside the contract"), _operations(theirs, ours)),
        "## Not served\n",
        _table(("operation", "request", "why", "instead"), _not_served(theirs)),
        "## Ours only\n",
        _table(
            ("operation", "request"),
            ((f"`{name}`", _request(each)) for name, each in ours.items() if name not in theirs),
        ),
        "## Methods of the official clients\n",
        "The tests call each one that works, unchanged, on a live server; a method of the Python client stands for its"
        " async twin too.\n",
        "### Python: hindsight-client 1.1.0\n",
        _table(("method", "works"), _methods(PYTHON, ours)),
        "### Node: @vectorize-io/hindsight-client 0.9.1\n",
        _table(("method", "works"), _methods(NODE, ours)),
    ]
    return "\n".join(sections)


def _operations(theirs: Mapping[str, Operation], ours: Mapping[str, Operation]) -> Iterator[Sequence[str]]:
    by_operation: dict[str, list[Deliberate]] = {}
    for found in compared(theirs, ours):
        reasons = by_operation.setdefault(found.operation, [])
        reasons += [each for each in DELIBERATE if each.covers(found.key) and each not in reasons]
    for name, operation in theirs.items():
        if name in ours:
            own = [each for each in by_operation.get(name, ()) if each not in GENERAL]
            told = " ".join(f"*{each.kind}*: {each.reason}" for each in own)
            if name in BEYOND_SCHEMAS:
                told = f"{told} *acts otherwise*: {BEYOND_SCHEMAS[name]}".strip()
            retired = "answers 410 and what to use instead, as the contract says" if name in RETIRED else "same"
            yield f"`{name}`", _request(operation), told or retired


def _not_served(theirs: Mapping[str, Operation]) -> Iterator[Sequence[str]]:
    for name in (name for name in theirs if name in NOT_SERVED):
        yield f"`{name}`", _request(theirs[name]), *NOT_SERVED[name]


def _methods(methods: Mapping[str, Sequence[str]], ours: Mapping[str, Operation]) -> Iterator[Sequence[str]]:
    for method, asked in methods.items():
        if missing := [name for name in asked if name not in ours]:
            yield f"`{method}`", "no: " + ", ".join(f"`{name}`" for name in missing) + " is not served"
        elif retired := [name for name in asked if name in RETIRED]:
            yield f"`{method}`", f"no: `{retired[0]}` is retired (410)"
        else:
            yield f"`{method}`", "yes"


def _request(operation: Operation) -> str:
    return f"`{operation['method']} {operation['path'].replace(BANK, 'B')}`"


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(each)} |" for each in lines) + "\n"


if __name__ == "__main__":
    print(render(), end="")  # noqa: T201 - this is what it is for
