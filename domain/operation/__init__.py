"""An operation: work asked for over REST that runs in the background, with its attempts and its end.

The queue that runs it keeps neither result nor error, so they are events here, and the list of operations is a read
model like any other.
"""

from domain.operation.commands import (
    CancelOperation,
    CompleteOperation,
    FailOperation,
    FoldRequest,
    OperationCommand,
    ParkOperation,
    RemoveOperation,
    RequestOperation,
    RestartOperation,
    StartOperation,
)
from domain.operation.decider import decide
from domain.operation.events import (
    OperationCancelled,
    OperationCompleted,
    OperationEvent,
    OperationFailed,
    OperationFolded,
    OperationParked,
    OperationRemoved,
    OperationRequested,
    OperationRestarted,
    OperationRetryScheduled,
    OperationStarted,
    ParkReason,
)
from domain.operation.state import (
    STATE_VERSION,
    NoOperation,
    Operation,
    OperationState,
    evolve,
)
from domain.operation.work import (
    RefreshAsked,
    RefreshDone,
    Result,
    RetainAsked,
    RetainDone,
    Work,
)

__all__ = [
    "STATE_VERSION",
    "CancelOperation",
    "CompleteOperation",
    "FailOperation",
    "FoldRequest",
    "NoOperation",
    "Operation",
    "OperationCancelled",
    "OperationCommand",
    "OperationCompleted",
    "OperationEvent",
    "OperationFailed",
    "OperationFolded",
    "OperationParked",
    "OperationRemoved",
    "OperationRequested",
    "OperationRestarted",
    "OperationRetryScheduled",
    "OperationStarted",
    "OperationState",
    "ParkOperation",
    "ParkReason",
    "RefreshAsked",
    "RefreshDone",
    "RemoveOperation",
    "RequestOperation",
    "RestartOperation",
    "Result",
    "RetainAsked",
    "RetainDone",
    "StartOperation",
    "Work",
    "decide",
    "evolve",
]
