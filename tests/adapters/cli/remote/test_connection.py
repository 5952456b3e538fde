"""Which server, key and bank a command uses; and the file of profiles."""

from __future__ import annotations

import json
import stat
from pathlib import Path

import pytest

from adapters.cli.remote.connection import connection
from adapters.cli.remote.profiles import Profile, Profiles
from adapters.cli.unusable import Unusable
from tests.support.command_line import CommandLine
from tests.support.scripted_api import ScriptedApi

HOME, WORK, OPTION, ENVIRONMENT = (f"https://{name}.example" for name in ("home", "work", "option", "environment"))
PROFILES = Profiles(
    {"home": Profile(HOME, "home-key", "home-bank"), "work": Profile(WORK, "work-key", "work-bank")}, "home"
)
NOTHING = Profile()
IN_ENVIRONMENT = {
    "PALIMPSEST_SERVER": ENVIRONMENT, "PALIMPSEST_API_KEY": "environment-key", "PALIMPSEST_BANK": "environment-bank",
}  # fmt: skip


def chosen(
    options: Profile = NOTHING, named: str | None = None, environment: dict[str, str] | None = None
) -> tuple[str, str | None, str | None]:
    to = connection(options, named, environment or {}, PROFILES)
    return to.server, to.key, to.bank


def test_options_go_before_the_environment_and_that_before_the_profile_in_use() -> None:
    option = Profile(OPTION, "option-key", "option-bank")
    assert chosen(option, environment=IN_ENVIRONMENT) == (OPTION, "option-key", "option-bank")
    assert chosen(environment=IN_ENVIRONMENT) == (ENVIRONMENT, "environment-key", "environment-bank")
    assert chosen() == (HOME, "home-key", "home-bank")
    assert chosen(environment={"PALIMPSEST_BANK": "b"}) == (HOME, "home-key", "b"), "each by itself"


def test_a_profile_that_a_command_names_goes_before_the_environment() -> None:
    assert chosen(named="work", environment=IN_ENVIRONMENT) == (WORK, "work-key", "work-bank")
    assert chosen(environment={"PALIMPSEST_PROFILE": "work"}) == (WORK, "work-key", "work-bank")
    assert chosen(Profile(bank="b"), named="work") == (WORK, "work-key", "b")


def test_without_anything_it_is_the_server_of_this_machine() -> None:
    to = connection(NOTHING, None, {}, Profiles())
    assert (to.server, to.key, to.bank) == ("http://127.0.0.1:8888", None, None)


@pytest.mark.parametrize(
    ("options", "environment"), [(Profile(OPTION), {}), (NOTHING, {"PALIMPSEST_SERVER": ENVIRONMENT})]
)
def test_the_key_of_a_profile_is_sent_to_no_other_server(options: Profile, environment: dict[str, str]) -> None:
    assert chosen(options, environment=environment)[1] is None
    assert chosen(Profile(HOME + "/"))[1] == "home-key", "the same server"
    assert chosen(Profile(OPTION), environment={"PALIMPSEST_API_KEY": "k"})[1] == "k"


@pytest.mark.parametrize("address", ["localhost:8888", "ftp://host", "http://", "http://host:many", "http://host:0"])
def test_what_is_no_address_is_told(address: str) -> None:
    with pytest.raises(Unusable, match="not an address"):
        chosen(Profile(address))


def test_an_address_with_a_password_is_refused_without_telling_it() -> None:
    with pytest.raises(Unusable) as refused:
        chosen(Profile("http://me:secret@host"))
    assert "secret" not in str(refused.value)


def test_an_unknown_profile_is_told_with_those_there_are() -> None:
    with pytest.raises(Unusable, match="there are home, work"):
        chosen(named="other")


def test_profiles_are_set_used_listed_and_deleted(tmp_path: Path) -> None:
    cli = CommandLine(tmp_path)
    cli.done("profile", "set", "home", "--server", HOME, "--key", "secret-1", "--bank", "b")
    cli.done("profile", "set", "work", "--key", "-", given="secret-2\n")
    cli.done("profile", "set", "home", "--bank", "c")
    file = tmp_path / "palimpsest" / "profiles.json"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert json.loads(file.read_text()) == {
        "current": "home",
        "profiles": {"home": {"server": HOME, "key": "secret-1", "bank": "c"}, "work": {"key": "secret-2"}},
    }
    cli.done("profile", "use", "work")
    listed = cli.done("profile", "list") + cli.done("profile", "list", "--json")
    assert "secret" not in listed
    assert HOME in listed
    assert [each["in_use"] for each in json.loads(cli.done("profile", "list", "--json"))] == [False, True]
    cli.done("profile", "set", "home", "--key", "")
    cli.done("profile", "delete", "work")
    assert json.loads(file.read_text()) == {"current": None, "profiles": {"home": {"server": HOME, "bank": "c"}}}
    assert [each.name for each in file.parent.iterdir()] == ["profiles.json"]
    assert "there is no profile 'work'" in cli.refused("profile", "use", "work")


@pytest.mark.parametrize("content", ["", "[]", '{"profiles": {"a": 1}}', '{"profiles": {"a": {"key": 1}}}', "\udcff"])
def test_a_file_that_holds_no_profiles_is_told(tmp_path: Path, content: str) -> None:
    file = tmp_path / "palimpsest" / "profiles.json"
    file.parent.mkdir()
    file.write_bytes(content.encode(errors="surrogateescape"))
    assert "not a file of profiles" in CommandLine(tmp_path).refused("profile", "list")


def test_a_key_is_sent_and_never_told(tmp_path: Path) -> None:
    with ScriptedApi((401, {"detail": "this key is not known"})) as server:
        cli = CommandLine(tmp_path)
        cli.done("profile", "set", "s", "--server", server.address, "--key", "secret-key", "--bank", "b")
        assert cli.refused("tag", "list") == "this key is not known"
        assert server.asked[0][2] == "Bearer secret-key"


def test_without_a_bank_it_is_told_how_to_name_one(tmp_path: Path) -> None:
    assert "--bank" in CommandLine(tmp_path).refused("tag", "list")


def test_a_server_that_is_not_there_is_one_line(tmp_path: Path) -> None:
    cli = CommandLine(tmp_path, "http://127.0.0.1:1", "b")
    assert cli.refused("tag", "list").startswith("nothing answers at http://127.0.0.1:1")
