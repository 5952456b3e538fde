"""The shape of the code: who may import whom, what the domain may not touch, and how big things may be."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from projections.registry import PROJECTIONS

ROOT = Path(__file__).parent.parent
LAYERS = ("domain", "application", "projections", "adapters")
SOURCES = {
    file.relative_to(ROOT).as_posix(): file.read_text(encoding="utf-8")
    for layer in LAYERS
    for file in sorted((ROOT / layer).rglob("*.py"))
}
LINES = 300
LONGER_FILES = {"adapters/app.py": "joins all parts, a line each"}
FUNCTION_LINES = 40
LONGER_FUNCTIONS = {"adapters/app.py:service": "joins all parts, a line each"}
FILES_OF_PROJECTIONS = {
    path for path in SOURCES if path.startswith("projections/") and "PROJECTION = Projection(" in SOURCES[path]
}
NOT_PROJECTIONS = {
    "projections/__init__.py",
    "projections/operation_parts.py",
    "projections/consolidation_operations.py",
    "projections/projection.py",
    "projections/reflect_response.py",
    "projections/refresh_trace.py",
    "projections/registry.py",
}

TREES = {path: ast.parse(text, path) for path, text in SOURCES.items()}
DOMAIN = {path: tree for path, tree in TREES.items() if path.startswith("domain/")}


def test_imports_point_inwards() -> None:
    """The contracts in pyproject.toml. In a process of its own: it switches off the loggers of the one it runs in."""
    command = [sys.executable, "-c", LINT_IMPORTS, str(ROOT / "pyproject.toml")]
    linted = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120, check=False)
    assert linted.returncode == 0, linted.stdout + linted.stderr


LINT_IMPORTS = (
    "import sys; from importlinter.cli import lint_imports;"
    " sys.exit(lint_imports(config_filename=sys.argv[1], no_cache=True, no_logo=True))"
)


# --- the domain is pure -----------------------------------------------------------------------------------------------

FORBIDDEN_MODULES = {
    "os", "sys", "io", "time", "random", "secrets", "socket", "subprocess", "threading", "asyncio", "contextvars",
    "pathlib", "shutil", "tempfile", "logging", "urllib", "http", "sqlite3",
}  # fmt: skip
FORBIDDEN_NAMES = {
    "datetime.now", "datetime.utcnow", "datetime.today", "date.today", "uuid.uuid1", "uuid.uuid4", "uuid1", "uuid4",
    "open", "print", "input",
}  # fmt: skip


def named_in(tree: ast.Module) -> Iterator[str]:
    """`a.b` and `b` of everything that is named, called or not."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            yield f"{node.value.id}.{node.attr}"
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Attribute):
            yield f"{node.value.attr}.{node.attr}"
        elif isinstance(node, ast.Name):
            yield node.id


def modules_of(tree: ast.Module) -> set[str]:
    """The top-level packages that a module imports."""
    names: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            names.add(node.module or "")
    return {name.split(".")[0] for name in names}


def test_the_domain_knows_no_clock_no_chance_and_no_outside() -> None:
    touched = {
        path: found
        for path, tree in DOMAIN.items()
        if (found := (modules_of(tree) & FORBIDDEN_MODULES) | (set(named_in(tree)) & FORBIDDEN_NAMES))
    }
    assert touched == {}


def test_the_domain_imports_few_things() -> None:
    libraries = {
        "pydantic",
        "pydantic_core",
        "markdown_it",
        "mdit_py_plugins",
        "croniter",
        "jsonschema",
        "snowballstemmer",
    }
    allowed = {*sys.stdlib_module_names, "domain", *libraries}
    assert {path: more for path, tree in DOMAIN.items() if (more := modules_of(tree) - allowed)} == {}


def test_the_domain_does_not_know_how_events_are_kept() -> None:
    assert [path for path in DOMAIN if "originator_" in SOURCES[path]] == []


def test_only_the_command_handler_appends_events() -> None:
    appending = {path for path in SOURCES if path.startswith("application/") and "_log.append(" in SOURCES[path]}
    assert appending == {"application/command_handler.py"}


# --- every module imports anywhere ------------------------------------------------------------------------------------

IMPORT_ALL = """
import importlib, sys
for name in sys.argv[1:]:
    importlib.import_module(name)
print(*sorted({"openai", "instructor"} & set(sys.modules)))
"""


def test_every_module_imports_without_environment_and_database_and_no_model_client_is_loaded() -> None:
    """The clients of models cost seconds at start; they are imported when one is asked."""
    modules = [
        re.sub(r"(/__init__)?\.py$", "", path).replace("/", ".")
        for path in SOURCES
        if not path.endswith("/__main__.py")
    ]
    run = subprocess.run(
        [sys.executable, "-W", "error", "-c", IMPORT_ALL, *modules],
        cwd=ROOT,
        env={"PYTHONPATH": str(ROOT), "PATH": os.defpath},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    assert run.stdout.strip() == ""


# --- sizes and names --------------------------------------------------------------------------------------------------


def test_a_file_fits_on_a_few_screens() -> None:
    lengths = {path: text.count("\n") for path, text in SOURCES.items()}
    assert {path: length for path, length in lengths.items() if length > LINES}.keys() == LONGER_FILES.keys()


def test_a_function_fits_on_a_screen() -> None:
    longer = {
        f"{path}:{node.name}"
        for path, tree in TREES.items()
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and (node.end_lineno or node.lineno) - node.lineno >= FUNCTION_LINES
    }
    assert longer == LONGER_FUNCTIONS.keys()


def test_a_module_is_named_after_its_subject() -> None:
    subjectless = {"utils", "util", "helpers", "helper", "manager", "managers", "common", "misc", "base"}
    assert [path for path in SOURCES if set(re.split(r"[/.]", path)) & subjectless] == []


def test_a_module_says_what_it_is_about() -> None:
    silent = [path for path, tree in TREES.items() if SOURCES[path].strip() and not ast.get_docstring(tree)]
    assert silent == []


# --- projections ------------------------------------------------------------------------------------------------------


def test_every_projection_is_registered_and_every_other_file_is_known() -> None:
    assert {path for path in SOURCES if path.startswith("projections/")} == FILES_OF_PROJECTIONS | NOT_PROJECTIONS
    assert len(FILES_OF_PROJECTIONS) == len(PROJECTIONS)


@pytest.mark.parametrize("path", sorted(FILES_OF_PROJECTIONS))
def test_one_file_is_one_projection(path: str) -> None:
    names = [
        target.id
        for node in TREES[path].body
        for target in (node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)])
        if isinstance(target, ast.Name)
    ]
    functions = [node.name for node in TREES[path].body if isinstance(node, ast.FunctionDef)]
    assert [name for name in names if name in ("DDL", "HANDLES", "PROJECTION")] == ["DDL", "HANDLES", "PROJECTION"]
    assert functions.count("project") == 1
