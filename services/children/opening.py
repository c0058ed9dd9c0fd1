"""The error of a subagent whose chat, that is its recording, cannot be opened.

Source: core `agents/local-executor.ts` (`createChatObject`).
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from services.node_errors import node_error_message

__all__ = ["ChatNotCreated", "chat_being_created"]


class ChatNotCreated(RuntimeError):
    """The subagent's recording cannot be opened. `name` is the wire's."""

    name = "Error"


@contextmanager
def chat_being_created() -> Iterator[None]:
    """Raise errors of opening a recording in the words that the model receives.

    Raises:
        ChatNotCreated: in place of an `OSError` or a `ValueError` of the recording.
    """
    try:
        yield
    except OSError as error:
        raise _not_created(_in_words(error)) from error
    except ValueError as error:
        raise _not_created(str(error)) from error


def _not_created(why: str) -> ChatNotCreated:
    return ChatNotCreated(f"Failed to create chat object: {why}")


def _in_words(error: OSError) -> str:
    # Folders are named by ids, which cannot contain the file's ending.
    file = isinstance(error.filename, str) and Path(error.filename).suffix == ".jsonl"
    return node_error_message(error, "open" if file else "mkdir", error.filename)
