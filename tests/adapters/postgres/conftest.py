"""Folders for database servers, and their users."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from adapters.postgres.embedded import EmbeddedPostgres
from tests.adapters.postgres.server_users import NewUser, User, copy_data
from tests.support.server_folders import temporary_folder


@pytest.fixture(scope="session")
def used_folder() -> Iterator[Path]:
    """A data folder whose server has run once and is stopped. Only to be copied."""
    with temporary_folder() as path:
        with EmbeddedPostgres(path / "data"):
            pass
        yield path / "data"


@pytest.fixture
def data_dir(folder: Path, used_folder: Path) -> Path:
    """A data folder of the test's own with a database in it, for starts that need not be the first."""
    return copy_data(used_folder, folder / "data")


@pytest.fixture
def new_user() -> Iterator[NewUser]:
    users: list[User] = []

    def start(data_dir: Path, **options: str) -> User:
        users.append(User(data_dir, **options))
        return users[-1]

    yield start
    for user in users:
        if user.process.poll() is None:
            user.kill()


@pytest.fixture
def embedded(data_dir: Path) -> Iterator[EmbeddedPostgres]:
    with EmbeddedPostgres(data_dir) as postgres:
        yield postgres
