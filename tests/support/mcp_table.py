"""Writes the table of tools in docs/mcp.md anew: `python -m tests.support.mcp_table`."""

from __future__ import annotations

from adapters.mcp.catalogue import table
from tests.adapters.mcp.test_catalogue import BEGIN, DOCUMENT, END


def write() -> None:
    told = DOCUMENT.read_text(encoding="utf-8")
    before, after = told[: told.index(BEGIN) + len(BEGIN)], told[told.index(END) :]
    DOCUMENT.write_text(f"{before}\n{table()}\n{after}", encoding="utf-8")


if __name__ == "__main__":
    write()
