"""The account that PostgreSQL runs as: our own, or an unprivileged one when we are root, which PostgreSQL refuses."""

import os
import pwd
from collections.abc import Callable

from adapters.postgres.unavailable import DatabaseUnavailable

_USUAL_ACCOUNTS = ("postgres", "nobody")


class Account:
    """An account of the operating system other than our own."""

    def __init__(self, uid: int, gid: int, name: str) -> None:
        self.uid = uid
        self.gid = gid
        self.name = name

    def own(self, path: str) -> None:
        os.chown(path, self.uid, self.gid, follow_symlinks=False)

    def ask(self, question: Callable[[], str | None]) -> str | None:
        """Answers the question as this account, in a child process: only the system knows all its access rules.

        Raises DatabaseUnavailable when we may not become this account.
        """
        reading, writing = os.pipe()
        child = os.fork()
        if child == 0:
            status = 1
            try:
                os.setgroups([])
                os.setgid(self.gid)
                os.setuid(self.uid)
                os.write(writing, os.fsencode(question() or ""))
                status = 0
            finally:
                os._exit(status)
        os.close(writing)
        with open(reading, "rb") as answer:
            text = os.fsdecode(answer.read())
        if os.waitpid(child, 0)[1] != 0:
            raise DatabaseUnavailable(
                f"PostgreSQL must not run as root, and root may not become the account {self.name} here, as in a "
                "container without CAP_SETUID and CAP_SETGID. Start Palimpsest as a normal user, or name a PostgreSQL "
                "server in DATABASE_URL."
            )
        return text or None


def server_account(requested: str | None, cluster: str) -> Account | None:
    """The account for the server: None for our own, which any account but root uses.

    Root uses the owner of the cluster where there is one, else the account asked for, else `postgres` or `nobody`.
    Raises DatabaseUnavailable.
    """
    if os.geteuid() != 0:
        return None
    if os.path.isdir(cluster):
        return _owner(cluster)
    for name in (requested,) if requested else _USUAL_ACCOUNTS:
        try:
            entry = pwd.getpwnam(name)
        except KeyError:
            continue
        if entry.pw_uid != 0:
            return Account(entry.pw_uid, entry.pw_gid, name)
    wanted = f"the account {requested!r}" if requested else "an account named " + " or ".join(_USUAL_ACCOUNTS)
    raise DatabaseUnavailable(
        f"PostgreSQL must not run as root, and {wanted} does not exist here or is root too. "
        "Start Palimpsest as a normal user, make such an account, or name a PostgreSQL server in DATABASE_URL."
    )


def _owner(cluster: str) -> Account:
    status = os.stat(cluster)
    if status.st_uid == 0:
        raise DatabaseUnavailable(
            f"The database folder {cluster} belongs to root, as which PostgreSQL must not run. "
            f"Give it to an unprivileged account, for example with `chown -R nobody {cluster}`."
        )
    try:
        name = pwd.getpwuid(status.st_uid).pw_name
    except KeyError:
        name = str(status.st_uid)
    return Account(status.st_uid, status.st_gid, name)


def first_impassable(path: str) -> str | None:
    """The first folder on the way to and including `path` that this process may not pass, or None."""
    way = [path]
    while way[-1] != os.path.dirname(way[-1]):
        way.append(os.path.dirname(way[-1]))
    return next((folder for folder in reversed(way) if not os.access(folder, os.X_OK)), None)
