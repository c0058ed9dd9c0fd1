"""Faults of the services in going back: `/rewind` with its files, and `/restore`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import takewhile
from typing import Any

from seeded_faults import Behaviour, Faults, Site
from seeded_faults.wrappers import instead, only_when, passing, result, returns

fault = Faults(Site.SERVICE, Behaviour.INTERACTIVE)
held_out = Faults(Site.SERVICE, Behaviour.INTERACTIVE, held_out=True)

oldest_edits_reverted_first = fault.wrap(
    "services.rewind.reverting:edits_after",
    result(lambda edits: None if edits is None else edits[::-1]),
    says="A rewind takes the oldest edit back first.",
    origin="a loop over messages in the order in which they were recorded",
)
line_ends_of_edits_kept = fault.wrap(
    "services.patching:_with_line_ends",
    instead(lambda _, change, _text: change),
    says="A rewind does not match the line ends of an edit to those of the file.",
    origin="a patch that is applied as it is",
)
moved_lines_not_found = fault.wrap(
    "services.patching:_places",
    instead(lambda _, start, _lowest, _highest: iter((start,))),
    says="A rewind takes an edit back only where its lines are at the recorded place.",
    origin="a patch without a search",
)
files_created_after_a_checkpoint_stay = fault.wrap(
    "services.checkpoints.shadow:ShadowRepository._git",
    instead(lambda git, self, *words, **more: git(self, *_harmless(words), **more)),
    says="Restoring a checkpoint leaves the files that came later.",
    origin="a checkout of the commit alone",
)
restore_keeps_the_conversation = fault.wrap(
    "services.chat.succession:ChatSuccession.load_history",
    returns(None),
    says="Restoring a checkpoint restores the files but not the conversation.",
    origin="a checkpoint that is a commit and nothing else",
)
calls_proposed_again_without_content = fault.wrap(
    "services.checkpoints.checkpoints:Checkpoints.save",
    passing(request=lambda request: replace(request, args={**request.args, "content": ""})),
    says="A checkpoint has the call without its content.",
    origin="arguments shortened for a list of checkpoints",
)
later_turns_keep_their_edits = held_out.wrap(
    "services.rewind.edits:_displays",
    passing(messages=lambda messages: _first_turn(messages)),
    says="A rewind takes back only the edits of the turn after the message.",
    origin="the statistics of one turn taken for the whole",
)
snapshot_not_renewed = held_out.wrap(
    "services.checkpoints.shadow:ShadowRepository._git",
    instead(lambda git, self, *words, **more: git(self, *_without_commit(words), **more)),
    says="Every checkpoint has the first state of the workspace.",
    origin="a snapshot that is taken when the repository is made",
)
checkpoints_newest_first = held_out.wrap(
    "services.checkpoints.files:CheckpointFiles.names",
    result(lambda names: names[::-1]),
    says="A number names a checkpoint counted from the newest.",
    origin="a list sorted for a screen",
)
going_back_not_announced = held_out.wrap(
    "services.state:CoreEvents.emit",
    only_when(lambda self, event: type(event).__name__ != "SessionUpdated"),
    says="Clients do not hear that the conversation went back.",
    origin="a command that changes the conversation behind its client",
)


@fault("services.rewind.reverting:planned", origin="a revert that overwrites")
def changes_of_the_user_overwritten(planned: Any, edit: Any, current: str | None) -> Any:
    """A rewind overwrites what the user changed since the edit."""
    return planned(edit, current if current is None else edit.after)


@fault("services.rewind.reverting:planned", origin="a revert that knows only writing")
def new_files_emptied(planned: Any, edit: Any, current: str | None) -> Any:
    """A rewind leaves a new file behind, empty."""
    return planned(replace(edit, is_new=False), current)


@held_out("services.rewind.reverting:planned", origin="a revert that knows only writing")
def deleted_files_made_again(planned: Any, edit: Any, current: str | None) -> Any:
    """A rewind writes a file that was deleted since its edit."""
    return planned(edit, edit.after if current is None else current)


def _harmless(words: Sequence[str]) -> Sequence[str]:
    return ("clean", "-n") if words[0] == "clean" else words


def _without_commit(words: Sequence[str]) -> Sequence[str]:
    commits = words[0] == "commit" and "--allow-empty" not in words
    return ("status", "--porcelain") if commits else words


def _first_turn(messages: Sequence[Any]) -> list[Any]:
    return list(takewhile(lambda message: not _asks(message), messages))


def _asks(message: Any) -> bool:
    content = message.get("content")
    parts = content if isinstance(content, list) else ()
    answers = any("functionResponse" in part for part in parts)
    return message.get("type") == "user" and not answers
