"""Names on real PostgreSQL: those of the bank are found by their spelling, and only those of the bank."""

from __future__ import annotations

from tests.support.memories import BankMemory, document, said


def spelled(memory: BankMemory, *names: str) -> dict[str, list[str]]:
    found = memory.store.spellings(memory.bank_id, names)
    return {name: [each.name for each in near] for name, near in found.items()}


def test_a_known_name_is_found_whatever_its_case_and_one_nearly_so_too(memory: BankMemory) -> None:
    memory.retain(document("d", said("tea", entities=("Michael Smith", "Prague", "100% Tea_"))))
    assert spelled(memory, "PRAGUE", "Micheal Smith", "100% tea_", "Rome") == {
        "PRAGUE": ["Prague"],
        "Micheal Smith": ["Michael Smith"],
        "100% tea_": ["100% Tea_"],
    }
    assert spelled(memory) == {}


def test_names_of_other_banks_and_of_no_current_fact_are_not_known(memory: BankMemory) -> None:
    memory.neighbour().retain(document("d", said("tea", entities=("Michael Smith",))))
    memory.retain(document("d", said("tea", entities=("Prague",))))
    memory.retain(document("d", "milk"))
    assert spelled(memory, "Michael Smith", "Micheal Smith", "Prague") == {}


def test_the_nearest_names_come_first_and_not_all_of_them(memory: BankMemory) -> None:
    names = tuple(f"Michael Smith {number}" for number in range(20))
    memory.retain(document("d", said("tea", entities=(*names, "Michael Smyth"))))
    found = memory.store.spellings(memory.bank_id, ["Michael Smith"])["Michael Smith"]
    assert len(found) == 5
    assert [each.nearness for each in found] == sorted((each.nearness for each in found), reverse=True)
