"""`Actions`: what the user of a run did, as a cassette writes it.

Source: the cassette format, `script`, `during` and `answers`.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from agent_protocol.codec import content_part_to_wire
from agent_protocol.content import ContentPart, TextPart
from harness.live.tape import Tape
from services.wire import Json, JsonObject

__all__ = ["Actions"]


@dataclass(slots=True)
class Actions:
    """The actions of one run, in their order."""

    tape: Tape
    script: list[Json] = field(default_factory=list)
    confirmations: list[Json] = field(default_factory=list)
    questions: dict[str, list[Json]] = field(default_factory=dict)
    """The answers to questions of the session, by kind."""
    first_prompt: str = ""
    events: int = 0
    """How many events the agents have emitted."""
    working: bool = False
    """Whether a stream runs."""
    lost: list[str] = field(default_factory=list)
    """What the user did and a cassette cannot say, as remarks."""
    _during: list[JsonObject] = field(default_factory=list)
    _aborts: list[tuple[int, int, int]] = field(default_factory=list)
    """Of each interruption: its place in `_during`, the events and the requests before it."""

    def send(self, prompt: str, content: tuple[ContentPart, ...]) -> None:
        """The user sends a prompt."""
        self.first_prompt = self.first_prompt or prompt
        self.script.append({"send": _payload(prompt, content)})
        self.working = True

    def act(self, action: JsonObject, *, meanwhile: bool = True) -> None:
        """The user does something; `meanwhile`: a cassette can say so while a stream runs."""
        if not self.working:
            self.script.append(action)
        elif meanwhile:
            self._during.append({"when": {"events": max(self.events, 1)}, "do": action})
        else:
            self.lost.append(f"left out: {next(iter(action))}, which came while the agent worked")

    def ended(self, *, aborted: bool) -> None:
        """A stream has ended."""
        self.working = False
        if aborted:
            self._aborts.append((len(self._during), self.events, len(self.tape.steps)))

    @property
    def aborted(self) -> bool:
        """Whether the user interrupted a stream."""
        return bool(self._aborts)

    def during(self, *, interrupted: bool) -> list[Json]:
        """What happened while streams ran; `interrupted`: the run ended before its stream."""
        aborts = list(self._aborts)
        if interrupted and not aborts:
            aborts.append((len(self._during), self.events, len(self.tape.steps)))
        found: list[Json] = list(self._during)
        for place, events, steps in reversed(aborts):
            found.insert(place, {"when": self._moment(events, steps), "do": "abort"})
        return found

    def answers(self) -> JsonObject:
        """The answers to confirmations and questions."""
        answers: JsonObject = dict(self.questions)
        if self.confirmations:
            answers["confirmations"] = self.confirmations
        return answers

    def _moment(self, events: int, steps: int) -> JsonObject:
        """The moment of an interruption after so many events and requests."""
        last = steps - 1
        pending = self.tape.pending(last)
        if pending is None:
            return {"events": max(events - 1, 1)}
        if pending.chunks:
            return {"chunk": f"{last}:{len(pending.chunks) - 1}"}
        return {"request": last}


def _payload(prompt: str, content: tuple[ContentPart, ...]) -> Json:
    """Return the text alone, if the payload has no other part."""
    if content == (TextPart(text=prompt),):
        return prompt
    return {"content": [content_part_to_wire(part) for part in content], "display_content": prompt}
