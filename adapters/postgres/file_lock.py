"""Advisory locks on files (flock) that end with their holder, even when it is killed."""

import fcntl
import os
import weakref
from typing import Self


class FileLock:
    """One open file, locked or not. The kernel frees the lock when the last process that has this opening is gone."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        _open_locks.add(self)

    @classmethod
    def open(cls, path: str) -> Self:
        """Opens the file, made empty where it is missing, without locking it. Raises OSError."""
        flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
        lock = cls(os.open(path, flags, 0o600))
        lock._give_to_owner_of(os.path.dirname(path))
        return lock

    def _give_to_owner_of(self, folder: str) -> None:
        # Root may serve a folder that belongs to somebody else, who must be able to open the file later.
        if os.geteuid() == 0:
            owner, file = os.stat(folder), os.fstat(self._descriptor)
            if file.st_uid != owner.st_uid and file.st_size == 0 and file.st_nlink == 1:
                os.fchown(self._descriptor, owner.st_uid, owner.st_gid)

    @property
    def descriptor(self) -> int:
        return self._descriptor

    @property
    def closed(self) -> bool:
        return self._descriptor < 0

    def try_shared(self) -> bool:
        return self._try(fcntl.LOCK_SH)

    def try_exclusive(self) -> bool:
        """Also turns a shared lock into an exclusive one; when that fails, the shared lock is lost."""
        return self._try(fcntl.LOCK_EX)

    def _try(self, kind: int) -> bool:
        try:
            fcntl.flock(self._descriptor, kind | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

    def wait_exclusive(self) -> None:
        """Blocks, without limit, until nobody else holds the lock."""
        fcntl.flock(self._descriptor, fcntl.LOCK_EX)

    def close(self) -> None:
        """Frees the lock, unless another process shares this opening of the file."""
        if not self.closed:
            os.close(self._descriptor)
            self._descriptor = -1

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


_open_locks: "weakref.WeakSet[FileLock]" = weakref.WeakSet()


def _close_in_forked_child() -> None:
    # A fork shares the opening, so the child would hold its parent's place long after the parent has left.
    for lock in list(_open_locks):
        lock.close()


os.register_at_fork(after_in_child=_close_in_forked_child)
