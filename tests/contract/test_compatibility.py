"""docs/compatibility.md is what the comparison with the contract gives, and what it says of clients is tried out."""

from __future__ import annotations

import inspect
from pathlib import Path

from hindsight_client import Hindsight

from tests.support.client_methods import NODE, PYTHON
from tests.support.compatibility import render
from tests.support.our_openapi import our_openapi
from tests.support.wire_contract import contract, operations

ROOT = Path(__file__).parents[2]
CALLED = "\n".join(file.read_text(encoding="utf-8") for file in (ROOT / "tests" / "acceptance").glob("test_*.py"))


def test_the_table_in_the_docs_is_up_to_date() -> None:
    assert (ROOT / "docs" / "compatibility.md").read_text(encoding="utf-8") == render(), (
        "the API has changed: python -m tests.support.compatibility > docs/compatibility.md"
    )


def test_every_method_of_the_python_client_is_told_of() -> None:
    public = {name for name, member in inspect.getmembers(Hindsight, callable) if not name.startswith("_")}
    assert {name for name in public if not (name[0] == "a" and name[1:] in public)} == set(PYTHON)
    assert set().union(*PYTHON.values(), *NODE.values()) <= set(contract())


def test_every_method_that_is_said_to_work_is_called_by_a_test() -> None:
    served = operations(our_openapi())
    working = {method for method, asked in PYTHON.items() if all(name in served for name in asked)}
    assert {method for method in working if f".{method}(" not in CALLED and f'"{method}"' not in CALLED} - {
        "close"
    } == set()
