"""Which server a command talks to, with which key, and about which bank.

Each of the three comes from the first that names it: the options of the command; a profile named by `--profile`; the
environment; the current profile; the server of this machine. A key of a profile is for the profile's server alone: it
is sent to no other.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from adapters.cli.remote.profiles import Profile, Profiles
from adapters.cli.unusable import Unusable

DEFAULT_SERVER = "http://127.0.0.1:8888"
SERVER, KEY, BANK, PROFILE = "PALIMPSEST_SERVER", "PALIMPSEST_API_KEY", "PALIMPSEST_BANK", "PALIMPSEST_PROFILE"


@dataclass(frozen=True)
class Connection:
    server: str
    key: str | None = field(repr=False)
    bank: str | None


def connection(options: Profile, named: str | None, environment: Mapping[str, str], profiles: Profiles) -> Connection:
    """`options` are those of the command, `named` the profile it names. Raises Unusable for an unknown profile, and for
    what is no address of a server."""
    from_environment = Profile(environment.get(SERVER), environment.get(KEY), environment.get(BANK))
    asked = named or environment.get(PROFILE)
    profile = profiles[asked] if asked else profiles.used()
    order = [options, profile, from_environment] if named else [options, from_environment, profile]
    server = checked_server(next((each.server for each in order if each.server), DEFAULT_SERVER))
    return Connection(
        server=server,
        key=next((each.key for each in order if each.key and (each is not profile or _is_of(profile, server))), None),
        bank=next((each.bank for each in order if each.bank), None),
    )


def checked_server(address: str) -> str:
    """The address without a slash at its end. Raises Unusable."""
    try:
        parts = urlsplit(address)
        usable = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        usable = False
    if not usable:
        raise Unusable("the server is not an address such as http://127.0.0.1:8888 or https://example.org")
    if parts.username is not None or parts.query or parts.fragment:
        raise Unusable("the address of a server has no user, query or fragment; a key is given with --key")
    return address.rstrip("/")


def _is_of(profile: Profile, server: str) -> bool:
    return checked_server(profile.server or DEFAULT_SERVER) == server
