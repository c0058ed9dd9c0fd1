"""`RequestView`: the contents of the next request, kept up to date turn by turn.

Upstream transforms the whole history for every request. Here each turn is transformed once, when it
arrives, and a request is a copy of a list of ready contents. The result equals that of the pure
functions in `transforms`, which the tests check on generated histories.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from services.history.prefix import shared_prefix
from services.history.transforms import (
    coalesce,
    is_valid_content,
    sign_first_call,
    starts_active_loop,
    strip_content_prefixes,
    strip_thoughts,
    without_thoughts,
)
from services.wire import Content

__all__ = ["RequestView"]


class _Entry:
    """One coalesced turn of the view, in the forms for requests."""

    __slots__ = ("content", "plain", "raw_start", "sent")

    def __init__(self, content: Content, raw_start: int) -> None:
        self.content = content
        self.raw_start = raw_start
        self.plain: Content | None = None
        self.sent: Content | None = None


class RequestView:
    """Curated, coalesced request contents over a growing history.

    `strip_thoughts` is upstream's rule for Gemini 2 and modern configured models: thought parts
    and empty turns never reach a request.
    """

    def __init__(self, contents: Iterable[Content] = (), *, strip_thoughts: bool = True) -> None:
        self._raw: list[Content] = []
        self._entries: list[_Entry] = []
        self._run_start: int | None = None
        """Index of the first turn of the model run that history ends with."""
        self._strip_thoughts = strip_thoughts
        self._shown_as_is = 0
        """How many of the first turns are known to have no thoughts and no neighbour to join."""
        self._curated: list[Content] = []
        self._plain: list[Content] = []
        self._signed: list[Content] = []
        self._signed_from = 0
        self._active: int | None = None
        """Index of the entry with the user's last text."""
        for content in contents:
            self.append(content)

    def __len__(self) -> int:
        return len(self._raw)

    @property
    def raw(self) -> Sequence[Content]:
        """The history itself, oldest first; not to be changed."""
        return self._raw

    @property
    def strips_thoughts(self) -> bool:
        """Whether thoughts are left out of requests."""
        return self._strip_thoughts

    def set_strip_thoughts(self, strip: bool) -> None:
        """Change the rule, when the configured model's family does; rebuilds."""
        if strip != self._strip_thoughts:
            self._strip_thoughts = strip
            self._rebuild(self._raw)

    def append(self, content: Content) -> None:
        """Add a turn at the end. The content belongs to the view from now on."""
        index = len(self._raw)
        if content.get("role") == "model":
            if self._run_start is None:
                self._run_start = index
            self._raw.append(content)
            return
        self._settle_run()
        self._raw.append(content)
        shown = self._shown(content)
        if shown is not None:
            self._push(shown, index)

    def truncate(self, length: int) -> None:
        """Remove every turn from `length` on; does nothing when it is out of range."""
        if length < 0 or length >= len(self._raw):
            return
        self._shown_as_is = min(self._shown_as_is, length)
        if self._run_start is not None and length > self._run_start:
            del self._raw[length:]
            return
        self._run_start = None
        while self._entries and self._entries[-1].raw_start >= length:
            self._entries.pop()
        start = 0
        if self._entries:
            start = self._entries.pop().raw_start
        self._forget_from(len(self._entries))
        self._active = None
        self._find_active(len(self._entries))
        again = self._raw[start:length]
        del self._raw[start:]
        for content in again:
            self.append(content)

    def replace(self, contents: Iterable[Content]) -> None:
        """Replace the turns. The cost is a copy, and the turns after the first that differs.

        `raw` is another list afterwards.
        """
        contents = list(contents)
        kept = shared_prefix(self._raw, contents)
        self._raw = list(self._raw)
        self.truncate(kept)
        for content in contents[kept:]:
            self.append(content)

    def _rebuild(self, contents: Iterable[Content]) -> None:
        self._raw, self._entries, self._run_start, self._active = [], [], None, None
        self._shown_as_is = 0
        self._forget_from(0)
        for content in contents:
            self.append(content)

    def whole(self) -> list[Content]:
        """Every turn, invalid ones included; where thoughts are left out, coalesced as well."""
        if not self._strip_thoughts:
            return list(self._raw)
        known = max(self._shown_as_is - 1, 0)
        shown = self._raw[:known]
        shown += coalesce(strip_thoughts(self._raw[known:]))
        self._shown_as_is = known + shared_prefix(self._raw[known:], shown[known:])
        return shown

    def curated(self) -> list[Content]:
        """The turns that a request would carry, coalesced, before signatures and id stripping."""
        turns, settled, tail = self.curated_parts()
        return [*turns[:settled], *tail]

    def curated_parts(self) -> tuple[Sequence[Content], int, list[Content]]:
        """The curated turns without a copy of the history.

        Returns:
            A list that this view goes on changing, how many of its first turns belong to the
            request, and the turns that follow those.
        """
        settled, tail = self._settled_and_tail()
        self._curated += [entry.content for entry in self._entries[len(self._curated) :]]
        return self._curated, settled, [entry.content for entry in tail]

    def contents(self, *, signed: bool) -> list[Content]:
        """The next request's contents, oldest first; equal turns are the same objects every time.

        `signed`: the first function call of each model turn in the active loop carries a thought
        signature (Gemini 2 and modern models want one). Call ids have no prefix, as the API
        expects.
        """
        settled, tail = self._settled_and_tail()
        for entry in self._entries[len(self._plain) :]:
            self._plain.append(_plain(entry))
        if not signed:
            plain = self._plain[:settled]
            plain += [_plain(entry) for entry in tail]
            return plain
        for entry in self._entries[len(self._signed) :]:
            self._signed.append(_sent(entry))
        start = min(self._active_start(len(self._entries)), len(self._entries))
        for index in range(self._signed_from, start):
            self._signed[index] = self._plain[index]
        for index in range(start, self._signed_from):
            self._signed[index] = _sent(self._entries[index])
        self._signed_from = start
        shown = _plain if self._active is None else _sent
        sent = self._signed[:settled]
        sent += [shown(entry) for entry in tail]
        return sent

    def _active_start(self, without: int) -> int:
        return without if self._active is None else self._active

    def _settle_run(self) -> None:
        for entry in self._tail():
            self._push(entry.content, entry.raw_start)
        self._run_start = None

    def _settled_and_tail(self) -> tuple[int, list[_Entry]]:
        """How many entries are final, and the entries after them.

        An omitted turn may stand between two model runs; these are one turn then.
        """
        settled, tail = len(self._entries), self._tail()
        if not (tail and settled):
            return settled, tail
        last, run = self._entries[-1], tail[0]
        if last.content.get("role") != run.content.get("role"):
            return settled, tail
        return settled - 1, [_Entry(_joined(last.content, run.content), last.raw_start)]

    def _tail(self) -> list[_Entry]:
        """The model run that history ends with, as at most one entry."""
        if self._run_start is None:
            return []
        run = self._raw[self._run_start :]
        if not all(is_valid_content(content) for content in run):
            return []
        kept = [shown for shown in map(self._shown, run) if shown is not None]
        if not kept:
            return []
        first = kept[0]
        if len(kept) > 1:
            first = {**first, "parts": [p for c in kept for p in c.get("parts") or ()]}
        return [_Entry(first, self._run_start)]

    def _shown(self, content: Content) -> Content | None:
        return without_thoughts(content) if self._strip_thoughts else content

    def _push(self, shown: Content, raw_start: int) -> None:
        last = self._entries[-1] if self._entries else None
        if last is None or last.content.get("role") != shown.get("role"):
            self._entries.append(_Entry(shown, raw_start))
            if starts_active_loop(shown):
                self._active = len(self._entries) - 1
            return
        self._entries[-1] = _Entry(_joined(last.content, shown), last.raw_start)
        self._forget_from(len(self._entries) - 1)
        self._find_active(len(self._entries))

    def _forget_from(self, index: int) -> None:
        del self._curated[index:]
        del self._plain[index:]
        del self._signed[index:]
        self._signed_from = min(self._signed_from, index)

    def _find_active(self, end: int) -> None:
        """Find the user's last text among the first `end` entries again."""
        top = end if self._active is None or self._active >= end - 1 else self._active + 1
        if end and starts_active_loop(self._entries[end - 1].content):
            self._active = end - 1
            return
        self._active = next(
            (i for i in range(top - 1, -1, -1) if starts_active_loop(self._entries[i].content)),
            None,
        )


def _joined(first: Content, second: Content) -> Content:
    parts = [*(first.get("parts") or ()), *(second.get("parts") or ())]
    return {**first, "parts": parts}


def _plain(entry: _Entry) -> Content:
    if entry.plain is None:
        entry.plain = strip_content_prefixes(entry.content)
    return entry.plain


def _sent(entry: _Entry) -> Content:
    if entry.sent is None:
        signed = sign_first_call(entry.content)
        entry.sent = _plain(entry) if signed is entry.content else strip_content_prefixes(signed)
    return entry.sent
