"""`ChangeReviews`: changes that wait for the user's approval are shown in the IDE as well.

The first decision counts, wherever the user makes it. Source: core `scheduler/confirmation.ts`,
`waitForConfirmation`; `tools/write-file.ts`, `tools/edit.ts` (`ideConfirmation`).
"""

from __future__ import annotations

import logging
from typing import Final

from services.background import BackgroundTasks
from services.ide.companion import CompanionError, IdeCompanion
from services.message_bus import (
    MessageBus,
    ToolCallsUpdate,
    ToolCallView,
    ToolConfirmationResponse,
)
from services.tools.contract import ConfirmationOutcome

__all__ = ["ChangeReviews"]

logger = logging.getLogger(__name__)

_WAITS: Final = "awaiting_approval"


class ChangeReviews:
    """Opens a review for each question about an edit, and publishes what the user decides there."""

    def __init__(self, companion: IdeCompanion, bus: MessageBus, tasks: BackgroundTasks) -> None:
        self._companion = companion
        self._bus = bus
        self._tasks = tasks
        self._open: dict[str, tuple[str, str]] = {}
        """By the question's correlation id: the scheduler, and the file."""
        bus.subscribe(ToolCallsUpdate, self._updated)

    def _updated(self, update: ToolCallsUpdate) -> None:
        waiting = {call.correlation_id for call in update.calls if call.status == _WAITS}
        for question, (scheduler, path) in list(self._open.items()):
            if scheduler == update.scheduler_id and question not in waiting:
                del self._open[question]
                # The call was answered or ended elsewhere: the IDE must not ask any more.
                self._tasks.start(self._close(path), name="ide-close")
        if self._companion.reviews_changes:
            for call in update.calls:
                self._ask(call, update.scheduler_id)

    def _ask(self, call: ToolCallView, scheduler: str) -> None:
        question, details = call.correlation_id, call.confirmation_details
        if call.status != _WAITS or question is None or question in self._open:
            return
        if details is None or details.type != "edit":
            return
        path, content = str(details.fields["filePath"]), str(details.fields["newContent"])
        self._open[question] = scheduler, path
        self._tasks.start(self._review(question, path, content), name="ide-review")

    async def _review(self, question: str, path: str, content: str) -> None:
        try:
            decision = await self._companion.review(path, content)
        except CompanionError as error:
            logger.warning("the IDE cannot show the change of %s: %s", path, error)
            return
        if decision is None or question not in self._open:
            return
        del self._open[question]
        outcome = (
            ConfirmationOutcome.PROCEED_ONCE if decision.accepted else ConfirmationOutcome.CANCEL
        )
        self._bus.publish(
            ToolConfirmationResponse(
                correlation_id=question,
                confirmed=decision.accepted,
                outcome=outcome,
                payload={"newContent": decision.content} if decision.content else None,
            )
        )

    async def _close(self, path: str) -> None:
        await self._companion.settle(path, accepted=False)
