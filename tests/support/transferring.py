"""A bank that has been through much, and archives of banks, taken apart and put together again."""

from __future__ import annotations

import hashlib
import io
import json
import re
import zipfile
from collections.abc import Callable, Mapping
from typing import Any

from tests.support.eventually import eventually
from tests.support.rest import RestBank

UUIDS = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
MARCH = "2024-03-01T10:00:00Z"


def lived_in(bank: RestBank) -> RestBank:
    """Documents replaced and appended to, a fact that was corrected and one set aside, observations, config and
    directives, and documents that were refreshed, edited, put back, cleared and deleted."""
    told = {"name": "The team's", "reflect_mission": "Know the team.", "disposition_skepticism": 4}
    assert bank.ask("PUT", json=told).is_success
    bank.ask("PATCH", "/config", json={"updates": {"enable_observations": True, "retain_chunk_size": 400}})
    rule = {"name": "Cite", "content": "Name the source.", "priority": 3, "tags": ["work"]}
    bank.post("/directives", rule)
    gone = bank.post("/directives", {"name": "Shout", "content": "Shout.", "is_active": False})
    assert bank.ask("DELETE", f"/directives/{gone['id']}").is_success
    bank.retain("Ada Lovelace works at Acme. Ada Lovelace lives in London.", document_id="guide", tags=["work"])
    bank.retain(
        "Ada Lovelace works at Acme. Ada Lovelace moved to Paris.", document_id="guide", tags=["work"], timestamp=MARCH
    )
    bank.retain("Bob Miller sails with Ada Lovelace.", document_id="guide", update_mode="append", tags=["work"])
    bank.retain("Dan Brown plays chess. Dan Brown lives in Rome.", metadata={"source": "mail"}, context="a letter")
    _documents(bank)
    _corrections(bank)
    settled(bank)
    return bank


def _documents(bank: RestBank) -> None:
    bank.model("ada", source_query="What about Ada Lovelace?", trigger={"mode": "delta"})
    bank.retain("Ada Lovelace bought a boat.", document_id="boat")
    bank.refreshed("ada")
    bank.patch("/mental-models/ada", {"content": "# Ada\n\nWritten by hand.\n"})
    bank.post("/mental-models/ada/revert", {"version": 2})
    bank.model("dan", source_query="What about Dan Brown?")
    bank.post("/mental-models/dan/clear")
    bank.refreshed("dan")
    bank.model("gone", source_query="What about Bob Miller?")
    assert bank.ask("DELETE", "/mental-models/gone").is_success


def _corrections(bank: RestBank) -> None:
    facts = {fact["text"]: fact["id"] for fact in bank.get("/memories/list", type="world", limit=100)["items"]}
    bank.patch(f"/memories/{facts['Dan Brown lives in Rome.']}", {"text": "Dan Brown lives in Milan."})
    bank.patch(
        f"/memories/{facts['Ada Lovelace bought a boat.']}", {"state": "invalidated", "reason": "it was a kayak"}
    )


def settled(bank: RestBank) -> None:
    """With nothing left to do in the background."""

    def idle() -> bool:
        stats = bank.get("/stats")
        return not (stats["pending_consolidation"] or stats["pending_operations"])

    eventually(idle, timeout=20)


def exported(bank: RestBank, **choices: Any) -> bytes:
    """The archive of a bank."""
    asked = bank.ask("POST", "/transfer/export", params=choices)
    assert asked.status_code == 202, asked.text
    done = bank.finished(asked.json()["operation_id"])
    assert done["status"] == "completed", done
    return bank.client.get(done["result_metadata"]["download_url"]).raise_for_status().content


def sent(bank: RestBank, archive: bytes, target: str | None = None, **choices: Any) -> Any:
    """The answer to an import."""
    params = {**choices, **({"target_bank_id": target} if target is not None else {})}
    return bank.ask("POST", "/transfer/import", params=params, files={"file": ("bank.zip", archive)})


def imported(bank: RestBank, archive: bytes, target: str | None = None, **choices: Any) -> Any:
    """The operation of an import, once it has ended."""
    answer = sent(bank, archive, target, **choices)
    assert answer.status_code == 202, answer.text
    return bank.finished(answer.json()["operation_id"])


def entries(archive: bytes) -> dict[str, bytes]:
    """What an archive holds, by name."""
    with zipfile.ZipFile(io.BytesIO(archive)) as packed:
        return {name: packed.read(name) for name in packed.namelist()}


def rows(archive: bytes, section: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in entries(archive)[f"{section}.jsonl"].splitlines()]


def zipped(held: Mapping[str, bytes]) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as packed:
        for name, content in held.items():
            packed.writestr(name, content)
    return file.getvalue()


def rewritten(archive: bytes, section: str, change: Callable[[list[dict[str, Any]]], Any]) -> bytes:
    """The archive with other rows in a section, and a manifest that says so: as somebody would forge it."""
    held = entries(archive)
    changed = [json.loads(line) for line in held[f"{section}.jsonl"].splitlines()]
    changed = change(changed) or changed
    held[f"{section}.jsonl"] = b"".join(json.dumps(row).encode() + b"\n" for row in changed)
    return signed(held)


def signed(held: dict[str, bytes], **changes: Any) -> bytes:
    """The archive of these entries, with digests that fit them."""
    manifest = json.loads(held["manifest.json"])
    for section in manifest["sections"]:
        content = held[f"{section['name']}.jsonl"]
        section |= {
            "rows": content.count(b"\n"),
            "bytes": len(content),
            "sha256": hashlib.sha256(content).hexdigest(),
        }
    told = "".join(f"{s['name']} {s['rows']} {s['bytes']} {s['sha256']}\n" for s in manifest["sections"])
    manifest |= {"digest": hashlib.sha256(told.encode()).hexdigest(), **changes}
    return zipped({**held, "manifest.json": json.dumps(manifest).encode()})


def without_ids(archive: bytes, bank_id: str) -> dict[str, str]:
    """The sections as text, each internal id replaced by a number in the order in which they come, the bank by a word,
    and what is in no order sorted."""
    numbers: dict[str, str] = {}

    def number(found: re.Match[str]) -> str:
        return numbers.setdefault(found.group(), f"<{len(numbers)}>")

    held = entries(archive)
    told = {}
    for name in ("documents", "chunks", "facts", "set_aside", "consolidation", "causes", "clock", "events"):
        text = held[f"{name}.jsonl"].decode().replace(bank_id, "<bank>")
        lines = [UUIDS.sub(number, line) for line in text.splitlines()]
        told[name] = "\n".join(sorted(lines) if name == "causes" else lines)
    for name in ("entities", "scopes"):
        told[name] = held[f"{name}.jsonl"].decode()
    return told


def ids_in(archive: bytes, *sections: str) -> set[str]:
    """The internal ids that an archive holds."""
    held = entries(archive)
    chosen = sections or tuple(name.removesuffix(".jsonl") for name in held if name != "manifest.json")
    return {each for name in chosen for each in UUIDS.findall(held[f"{name}.jsonl"].decode())}
