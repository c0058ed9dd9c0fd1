"""Faults of the runtimes that no run can show: each does what it says, and no channel shows it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from harness.cassette.load import load_cassette
from harness.faults.catalogue import faults
from harness.faults.force import in_force
from harness.parity.compare import observation_digest
from harness.replay.runner import run_cassette
from seeded_faults import Fault
from seeded_faults.patching import replaced

CORPUS = Path(__file__).parents[3] / "cassettes"


def both_runs(
    name: str, fault: Fault, target: str, seen_by: Callable[[list[Any]], Callable[[Any], Any]]
) -> tuple[list[Any], list[Any]]:
    """What the wrapper at `target` saw in a good run and in a broken one, which look the same."""
    seen: list[list[Any]] = []
    digests: list[str] = []
    cassette = load_cassette(CORPUS / f"{name}.yaml", CORPUS)
    for broken in (None, fault):
        noted: list[Any] = []
        with in_force(broken, fault.site), replaced(target, seen_by(noted)):
            digests.append(observation_digest(run_cassette(cassette, fault.site)))
        seen.append(noted)
    assert fault.unobservable is not None
    assert digests[0] == digests[1]
    good, bad = seen
    return good, bad


def test_every_model_gets_the_same_tool_declarations() -> None:
    def noting(models: list[Any]) -> Callable[[Any], Any]:
        def wrap(declarations: Any) -> Any:
            def noted(self: Any, model: str | None = None) -> Any:
                models.append(model)
                return declarations(self, model)

            return noted

        return wrap

    good, bad = both_runs(
        "text/model_change",
        faults()["tools-of-first-model"],
        "services.tools.registry:ToolRegistry.declarations",
        noting,
    )

    assert len(set(good)) == 2
    assert set(bad) == {good[0]}


def test_what_is_sent_is_read_from_the_conversation_and_not_from_adks_request() -> None:
    def noting(contents: list[Any]) -> Callable[[Any], Any]:
        def wrap(make: Any) -> Any:
            def noted(typed: Any, *more: Any) -> Any:
                contents.append([content.wire for content in (*typed, *more)])
                return make(typed, *more)

            return noted

        return wrap

    good, bad = both_runs(
        "masking/call_ids",
        faults()["request-contents-stale"],
        "runtimes.adk.request_edits:request_contents",
        noting,
    )

    assert len(good) == len(bad)
    assert good != bad


def test_a_turn_that_stays_in_adks_session_goes_when_its_invocation_is_over() -> None:
    from runtimes.adk.session_events import live_events

    def noting(left: list[Any]) -> Callable[[Any], Any]:
        def wrap(settle: Any) -> Any:
            def noted(self: Any, session: Any) -> None:
                asked = [event.author == "user" for event in live_events(session.events)]
                settle(self, session)
                left.append((any(asked), len(live_events(session.events))))

            return noted

        return wrap

    good, bad = both_runs(
        "hooks/prompt_stopped",
        faults()["pending-turn-kept"],
        "runtimes.adk.sessions:GcliSessionService.settle",
        noting,
    )

    assert good == [(True, 0), (False, 0), (True, 0)]
    assert bad == [(True, 0), (True, 0), (True, 0)]
