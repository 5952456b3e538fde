"""Why an operation cannot be done as it is."""

from typing import Final

READ_DIFFERENTLY: Final = "it would change how the text around it is read"
NOT_VERIFIED: Final = "too many operations here change how the text around them is read: send fewer of them"


class Unfit(Exception):
    """An operation cannot be done: it is skipped for this reason, and the document stays as it was before it."""

    def __init__(self, reason: str, *, bad_reference: bool = False) -> None:
        super().__init__(reason)
        self.reason = reason
        self.bad_reference = bad_reference
