"""The one error of this package: there is no database to work with."""


class DatabaseUnavailable(Exception):
    """No database can be used. `str()` is one line: what is wrong, with which input, and what to do about it."""

    def __init__(self, reason: str) -> None:
        super().__init__(" ".join(reason.split()))
