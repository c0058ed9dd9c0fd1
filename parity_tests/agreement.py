"""A state machine of Hypothesis that writes a cassette: send, answer, break, abort, wait.

Its rules only put a scenario together; the last thing it does is to hand the whole of it to both
runtimes. What they disagree on is left as a cassette like any other finding, and `parity shrink`
makes it smaller: Hypothesis' own shrinking is off, so that there is one shrinker for everything.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, ClassVar, Final

from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule

from harness.canonical import canonical, sha256_hex
from harness.explain import explain
from harness.scenarios.chooser import Chooser
from harness.scenarios.found import FoundCassette, write_found
from harness.scenarios.grammar.actions import send
from harness.scenarios.grammar.answers import answer
from harness.scenarios.grammar.model_faults import fault
from harness.scenarios.grammar.tool_calls import FILES
from harness.scenarios.judging import Judging
from services.wire import Json, JsonObject

__all__ = ["SETTINGS", "Agreement", "agreement"]

MODEL: Final = "gemini-2.5-flash"
SETTINGS: Final = settings(
    max_examples=12,
    stateful_step_count=10,
    phases=(Phase.generate,),
    database=None,
    deadline=None,
    suppress_health_check=list(HealthCheck),
)
_TAIL: Final = 12
_WAITS: Final = (1, 250, 6_000)


class Agreement(RuleBasedStateMachine):
    """One scenario in the making. `agreement` makes the class that knows who is to agree."""

    judging: ClassVar[Judging]
    found: ClassVar[Path]

    def __init__(self) -> None:
        super().__init__()
        self.session: JsonObject = {"model": MODEL}
        self.script: list[Json] = []
        self.steps: list[JsonObject] = []
        self.during: list[Json] = []
        self.wait_ms = 0

    @initialize(mode=st.sampled_from(("yolo", "default", "auto_edit")), data=st.data())
    def begin(self, mode: str, data: st.DataObject) -> None:
        """A session, and what is said first."""
        self.session["approval_mode"] = mode
        self.send(data)

    @rule(data=st.data())
    def send(self, data: st.DataObject) -> None:
        """The user says something."""
        self.script.append(send(chooser(data)))

    @rule(tools=st.booleans(), data=st.data())
    def answer(self, tools: bool, data: st.DataObject) -> None:
        """The model answers what it is asked next."""
        self._step(answer(chooser(data), MODEL, tools=tools))

    @rule(data=st.data())
    def break_model(self, data: st.DataObject) -> None:
        """The model fails at what it is asked next."""
        self._step(fault(chooser(data)))

    @rule(ms=st.sampled_from(_WAITS))
    def advance_the_clock(self, ms: int) -> None:
        """Time passes before the next answer."""
        self.wait_ms += ms

    @rule(chunk=st.integers(0, 2), at_chunk=st.booleans())
    def abort(self, chunk: int, at_chunk: bool) -> None:
        """The user stops at the next request, or after a chunk of its answer."""
        request = len(self.steps)
        when = {"chunk": f"{request}:{chunk}"} if at_chunk else {"request": request}
        self.during.append({"when": when, "do": "abort"})

    def _step(self, step: JsonObject) -> None:
        waits = {"delay_ms": self.wait_ms} if self.wait_ms else {}
        self.steps.append({**step, **waits, "role": "main"})
        self.wait_ms = 0

    def document(self) -> JsonObject:
        """The scenario as a cassette, named by its content."""
        content: JsonObject = {
            "session": self.session,
            "files": dict(FILES),
            "match": "by_role",
            "script": self.script,
            **({"during": self.during} if self.during else {}),
            "model": [*self.steps, {"text": "Done.", "role": "main", "repeat": _TAIL}],
        }
        name = f"generated/agreement_{sha256_hex(canonical(content))[:10]}"
        return {"cassette": 1, "name": name, "phase": "A", **content}

    def teardown(self) -> None:
        """Run it in both runtimes; keep it where they do not agree.

        Raises:
            AssertionError: they do not; says what each did, and where the cassette is.
        """
        if not self.script:
            return
        trial = self.judging.judge_or_say(self.document())
        if trial.fingerprint is None:
            return
        sides = self.judging.control, self.judging.candidate
        says = "\n".join(explain(trial.result, *sides))
        file = write_found(
            self.found,
            FoundCassette(
                document=trial.document,
                fingerprint=trial.fingerprint,
                control=sides[0],
                candidate=sides[1],
                fault=self.judging.fault,
                profile="agreement",
                seed=None,
                block=None,
                kind="generated",
                says=says,
            ),
        )
        raise AssertionError(f"{says}\nkept in {file}; `parity shrink {file}` makes it smaller")


def chooser(data: st.DataObject) -> Chooser:
    """The grammar's choices, drawn by the machine."""
    return Chooser(lambda low, high: data.draw(st.integers(low, high)))


def agreement(judging: Judging, found: Path) -> type[Agreement]:
    """The machine whose scenarios are judged by `judging`; findings go below `found`."""
    members: dict[str, Any] = {"judging": judging, "found": found}
    return type("AgreementOfTwo", (Agreement,), members)
