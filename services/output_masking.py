"""`ToolOutputMaskingService`: old, bulky tool outputs leave the history for files.

Before every request, the newest function responses of the history are protected up to a number of
tokens. If the older ones together have enough tokens, each is written to a file and replaced by a
preview.

Upstream measures the whole history each time; here each response is measured once. Two defects of
upstream are mended: it writes a response whose preview would be longer to a new file before every
request, and a file that cannot be written ends its turn.

Source: core `context/toolOutputMaskingService.ts`.
"""

from __future__ import annotations

import logging
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from services.history.prefix import shared_prefix
from services.history.transforms import without_thoughts
from services.masking_previews import output_preview, shell_preview
from services.model.tokens import estimate_tokens
from services.output_files import (
    OutputFileError,
    safe_filename_part,
    tool_outputs_folder,
    write_output,
)
from services.session import Session
from services.wire import Content, JsonObject, Part, js_json, js_json_pretty

__all__ = ["MaskedResponse", "MaskingResult", "ToolOutputMaskingService"]

logger = logging.getLogger(__name__)

_TAG: Final = "tool_output_masked"
_SHELL: Final = "run_shell_command"
_EXEMPT: Final = frozenset({"activate_skill", "ask_user", "enter_plan_mode", "exit_plan_mode"})
_SUFFIXES: Final = 36**6
_DIGITS: Final = "0123456789abcdefghijklmnopqrstuvwxyz"


@dataclass(frozen=True, slots=True, kw_only=True)
class MaskedResponse:
    """One response that was masked. `part` is the whole new part; `file` has the old response."""

    call_id: str | None
    part: Part
    file: Path

    @property
    def response(self) -> JsonObject:
        """The new `functionResponse.response`."""
        response: JsonObject = self.part["functionResponse"]["response"]
        return response


@dataclass(frozen=True, slots=True, kw_only=True)
class MaskingResult:
    """A history after masking. Unchanged contents are the same objects."""

    history: Sequence[Content]
    changes: tuple[MaskedResponse, ...] = ()
    """Newest first."""
    prunable_tokens: int = 0

    @property
    def masked_count(self) -> int:
        """How many responses were masked; the history is to be replaced if there are any."""
        return len(self.changes)


@dataclass(frozen=True, slots=True)
class _Candidate:
    """A response that may be masked; its place in the history, and its estimate in tokens."""

    content_index: int
    part_index: int
    part: Part
    tokens: int


class ToolOutputMaskingService:
    """Masks one session's history, before each request and after compression."""

    def __init__(self, session: Session) -> None:
        self._settings = session.settings
        self._workspace = session.workspace
        self._state = session.state
        self._ids = session.ids
        self._clock = session.clock
        self._ledger = _Ledger()

    def due(self, history: Sequence[Content], *, coalesced: bool = True) -> bool:
        """Whether `mask` would find enough to mask. Costs what was appended since the last call.

        Args:
            history: the live history, oldest first. Between two calls the same list object may
                only have grown or shrunk at its end; any other list is measured anew.
            coalesced: whether `mask` will be given the history with thoughts stripped and
                neighbours of one role merged, which decides what the latest turn is.
        """
        self._ledger.follow(history, without_thoughts=coalesced)
        count = self._prunable_count(history)
        if self._ledger.totals[count] < self._settings.masking_min_prunable_tokens:
            return False
        return self._ledger.unsettled(count)

    def _prunable_count(self, history: Sequence[Content]) -> int:
        """How many of the oldest candidates are past the protected window."""
        ledger, settings = self._ledger, self._settings
        end = len(ledger.candidates)
        if settings.masking_protect_latest_turn:
            latest = _latest_start(history) if ledger.without_thoughts else len(history) - 1
            end = bisect_left(ledger.candidates, latest, key=lambda found: found.content_index)
        # `totals[i]` is what stands before candidate i. The last candidate from which on all exceed
        # the protection is the newest prunable one; so this is how many are prunable.
        protected_from = ledger.totals[end] - settings.masking_protection_tokens
        return min(bisect_left(ledger.totals, protected_from, 0, end + 1), end)

    def mask(
        self, history: Sequence[Content], *, live: Sequence[Content] | None = None
    ) -> MaskingResult:
        """Mask what is due in `history`, oldest first, and change nothing in place.

        A response is masked only where that saves tokens. A file that cannot be written leaves its
        response as it is.

        Args:
            history: the history as the model gets it.
            live: the whole history, if `due` has just examined it; then only the responses
                that `due` found are searched for.
        """
        if live is not None and self._ledger.follows(live):
            count = self._prunable_count(live)
            total = self._ledger.totals[count]
            prunable = _located(self._ledger.open_candidates(count), history)
        else:
            skipped = 1 if self._settings.masking_protect_latest_turn else 0
            prunable = self._prunable(history, len(history) - 1 - skipped)
            total = sum(candidate.tokens for candidate in prunable)
        if total < self._settings.masking_min_prunable_tokens:
            return MaskingResult(history=history, prunable_tokens=total)
        masked = list(history)
        changes: list[MaskedResponse] = []
        saved = 0
        for candidate in prunable:
            if self._ledger.is_kept(candidate.part):
                continue
            change = self._masked(candidate.part)
            if change is None:
                continue
            saving = candidate.tokens - estimate_tokens([change.part])
            if saving <= 0:
                self._ledger.keep(candidate.part)
                continue
            content = masked[candidate.content_index]
            parts = list(content["parts"])
            parts[candidate.part_index] = change.part
            masked[candidate.content_index] = {**content, "parts": parts}
            changes.append(change)
            saved += saving
        if changes:
            self._logged(len(changes), saved, total)
        logger.debug("masked %d tool outputs, about %d tokens saved", len(changes), saved)
        return MaskingResult(
            history=masked if changes else history,
            changes=tuple(changes),
            prunable_tokens=total,
        )

    def _logged(self, count: int, saved: int, prunable: int) -> None:
        """Source: core `context/toolOutputMaskingService.ts`."""
        self._state.log(
            "tool_output_masking",
            f"Tool output masking (Masked {count} tool outputs. Saved {saved} tokens)",
            {
                "tokens_before": prunable,
                "tokens_after": prunable - saved,
                "masked_count": count,
                "total_prunable_tokens": prunable,
            },
        )

    def _prunable(self, history: Sequence[Content], last: int) -> list[_Candidate]:
        """The candidates past the protected window, newest first, from index `last` on."""
        found: list[_Candidate] = []
        newer = 0
        for index in range(last, -1, -1):
            for candidate in reversed(list(self._ledger.measure(history[index], index))):
                newer += candidate.tokens
                if newer > self._settings.masking_protection_tokens:
                    found.append(candidate)
        return found

    def _masked(self, part: Part) -> MaskedResponse | None:
        answer = part["functionResponse"]
        name = answer.get("name") or "unknown_tool"
        call_id = answer.get("id") or None
        content = js_json_pretty(answer["response"])
        folder = tool_outputs_folder(self._workspace.project_temp, self._state.session_id)
        tool, call = (
            safe_filename_part(text).lower()
            for text in (name, call_id or str(self._clock.now_ms()))
        )
        file = folder / f"{tool}_{call}_{self._suffix()}.txt"
        try:
            write_output(file, content)
        except OutputFileError as error:
            logger.warning("a tool output stays unmasked: %s", error)
            return None
        response = answer["response"] if isinstance(answer["response"], dict) else {}
        preview = shell_preview(response) if name == _SHELL else output_preview(content)
        output = (
            f"<{_TAG}>\n{preview}\n\nOutput too large. Full output available at: {file}\n</{_TAG}>"
        )
        return MaskedResponse(
            call_id=call_id,
            part={**part, "functionResponse": {**answer, "response": {"output": output}}},
            file=file,
        )

    def _suffix(self) -> str:
        """Six base-36 digits, from the source of ids, so that no two outputs share a file."""
        number = int(self._ids.uuid("tool-output").replace("-", ""), 16) % _SUFFIXES
        digits = ""
        for _ in range(6):
            number, digit = divmod(number, 36)
            digits = _DIGITS[digit] + digits
        return digits


class _Ledger:
    """The measured responses of a history that grows and shrinks at its end."""

    def __init__(self) -> None:
        self.candidates: list[_Candidate] = []
        self.totals: list[int] = [0]
        """`totals[i]`: the tokens of all candidates before candidate i."""
        self._history: Sequence[Content] | None = None
        self._seen: list[Content] = []
        self.without_thoughts = True
        self._tokens: dict[int, tuple[Part, int | None]] = {}
        """By the id of the part, which is kept so that its id stays unique; `None` for a response
        that is never masked."""
        self._kept: dict[int, Part] = {}
        self._settled = 0
        """How many of the oldest candidates masking would not shorten."""

    def follow(self, history: Sequence[Content], *, without_thoughts: bool) -> None:
        """Bring `candidates` up to date with `history`."""
        if history is not self._history or without_thoughts != self.without_thoughts:
            self._start_anew(history, without_thoughts)
        known = min(len(self._seen), len(history))
        while known and self._seen[known - 1] is not history[known - 1]:
            known -= 1
        if known < len(self._seen):
            self._forget_from(known)
        for index in range(known, len(history)):
            content = history[index]
            self._seen.append(content)
            for candidate in self.measure(content, index):
                if self.without_thoughts and candidate.part.get("thought"):
                    continue
                self.candidates.append(candidate)
                self.totals.append(self.totals[-1] + candidate.tokens)

    def follows(self, history: Sequence[Content]) -> bool:
        """Whether this is the history that was followed last, as long as it was then."""
        return history is self._history and len(history) == len(self._seen)

    def open_candidates(self, end: int) -> list[_Candidate]:
        """The first `end` candidates without those known to be kept, newest first."""
        found = self.candidates[self._settled : end]
        return [candidate for candidate in reversed(found) if not self.is_kept(candidate.part)]

    def measure(self, content: Content, index: int) -> Iterator[_Candidate]:
        """The content's maskable responses, in order."""
        for position, part in enumerate(content.get("parts") or ()):
            tokens = self._measured(part)
            if tokens is not None:
                yield _Candidate(index, position, part, tokens)

    def unsettled(self, end: int) -> bool:
        """Whether any of the first `end` candidates is not known to be kept."""
        while self._settled < end and self.is_kept(self.candidates[self._settled].part):
            self._settled += 1
        return self._settled < end

    def keep(self, part: Part) -> None:
        """Remember that masking `part` saves nothing."""
        self._kept[id(part)] = part

    def is_kept(self, part: Part) -> bool:
        """Whether masking `part` is known to save nothing."""
        return id(part) in self._kept

    def _measured(self, part: Part) -> int | None:
        if part.get("functionResponse") is None:
            return None
        known = self._tokens.get(id(part))
        if known is None:
            known = self._tokens[id(part)] = (part, _maskable_tokens(part))
        return known[1]

    def _forget_from(self, length: int, still: Iterable[Content] = ()) -> None:
        """Forget contents from `length` on, but keep the measures of those `still` there."""
        present = {id(part) for content in still for part in content.get("parts") or ()}
        for content in self._seen[length:]:
            for part in content.get("parts") or ():
                if id(part) not in present:
                    self._tokens.pop(id(part), None)
                    self._kept.pop(id(part), None)
        del self._seen[length:]
        while self.candidates and self.candidates[-1].content_index >= length:
            self.candidates.pop()
            self.totals.pop()
        self._settled = min(self._settled, len(self.candidates))

    def _start_anew(self, history: Sequence[Content], without_thoughts: bool) -> None:
        known = 0
        if without_thoughts == self.without_thoughts:
            known = shared_prefix(self._seen, history)
        self._history, self.without_thoughts = history, without_thoughts
        self._forget_from(known, history[known:])


def _located(candidates: Sequence[_Candidate], history: Sequence[Content]) -> list[_Candidate]:
    """The candidates where they are in `history`, newest first."""
    wanted = {id(candidate.part): candidate for candidate in candidates}
    left = len(candidates)
    found: list[_Candidate] = []
    for index in range(len(history) - 1, -1, -1):
        if not left:
            break
        parts = history[index].get("parts") or ()
        for position in range(len(parts) - 1, -1, -1):
            candidate = wanted.get(id(parts[position]))
            if candidate is not None:
                found.append(replace(candidate, content_index=index, part_index=position))
                left -= 1
    return found


def _maskable_tokens(part: Part) -> int | None:
    answer = part["functionResponse"]
    response = answer.get("response")
    if answer.get("name") in _EXEMPT or response in (None, "", 0, False):
        return None
    # No character of the tag is escaped in JSON, so the compact form has it if any form has.
    return None if f"<{_TAG}" in js_json(response) else estimate_tokens([part])


def _latest_start(history: Sequence[Content]) -> int:
    """Where the last turn begins once thoughts are stripped and neighbours of one role merged."""
    start, role = len(history), None
    for index in range(len(history) - 1, -1, -1):
        shown = without_thoughts(history[index])
        if shown is None:
            continue
        if start < len(history) and (not role or shown.get("role") != role):
            break
        start, role = index, shown.get("role")
    return start
