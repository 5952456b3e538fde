"""`make bench`: all benchmarks, as a table. Not part of the tests: figures depend on the machine, so quote ratios."""

from __future__ import annotations

import importlib
import os
import platform
import sys

NAMES = ("document", "memory", "service")


def main() -> None:
    print(f"{os.cpu_count()} cores, Python {platform.python_version()}, {platform.machine()}\n")
    print("| what | figure |\n| --- | --- |")
    for name in sys.argv[1:] or NAMES:
        for what, figure, unit in importlib.import_module(f"tests.benchmarks.bench_{name}").rows():
            print(f"| {what} | {figure:,.2f} {unit} |", flush=True)


main()
