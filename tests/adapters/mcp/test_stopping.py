"""A service that stops while a tool waits for a mind."""

from __future__ import annotations

import threading
import time
from contextlib import ExitStack

from tests.adapters.http.told_minds import told_service
from tests.support.mcp_tools import McpTools, over_http


def test_a_service_stops_though_a_tool_still_waits_for_a_mind(conninfo: str) -> None:
    asked, answer = threading.Event(), threading.Event()

    def wait() -> None:
        asked.set()
        answer.wait(30)

    def reflect(tools: McpTools) -> None:
        try:
            tools.ask("reflect", query="What does Ada keep?")
        except Exception as error:  # noqa: BLE001 - however the connection ends, it ends
            ended.append(error)
        else:
            ended.append(None)

    ended: list[Exception | None] = []
    with ExitStack() as client:
        with told_service(conninfo) as told:
            bank = told.bank
            bank.retain("Ada keeps bees.")
            told.policy.before_answer = wait
            address = str(bank.client.base_url)
            tools = client.enter_context(over_http(address, f"/mcp/{bank.bank_id}", mode="legacy"))
            call = threading.Thread(target=reflect, args=(tools,), daemon=True)
            call.start()
            assert asked.wait(10)
            began = time.monotonic()
        took = time.monotonic() - began
        answer.set()
        call.join(10)
    assert took < 10
    assert len(ended) == 1
