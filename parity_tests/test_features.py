"""`runtimes.features.BUILT` claims what a run shows, and no more.

Each feature has a cassette that needs it. A runtime that does not claim the feature leaves the case
inconclusive. A runtime that claims it shows its probe there. With the mechanism broken, the same
case is divergent: a claim without the mechanism could not pass.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, ExitStack, nullcontext
from dataclasses import dataclass
from typing import Any, Final

import pytest

from harness.cassette.format import Cassette
from harness.coverage.probes import reached
from harness.parity.compare import compare
from harness.parity.verdict import CaseVerdict
from harness.replay.runner import run_cassette
from parity_tests.corpus import WAIVERS, cassette, judge
from parity_tests.protected_server import refused_sign_in
from runtimes import adk
from runtimes.contract import RuntimeTraits
from runtimes.features import BUILT
from seeded_faults.patching import replaced
from services.compression.service import CompressionInfo, CompressionResult, CompressionStatus
from services.message_bus import MessageBus, ToolConfirmationRequest, ToolConfirmationResponse
from services.tools.contract import ToolResult


@dataclass(frozen=True, slots=True)
class Proof:
    """A cassette that needs a feature, the probe that it shows, and what undoes it."""

    cassette: str | Callable[[], AbstractContextManager[Cassette]]
    """Its name in the corpus, or what serves it."""
    probe: str
    breaks: Mapping[str, Callable[[Any], Any]]
    """Function → its replacement's maker, as `seeded_faults.patching.replaced` takes them."""

    def played(self) -> AbstractContextManager[Cassette]:
        """Return the cassette, which can be played inside the context."""
        if isinstance(self.cassette, str):
            return nullcontext(cassette(self.cassette))
        return self.cassette()


def _answering(answer: Any = None) -> Callable[[Any], Any]:
    """Replace a coroutine function by one that does nothing else than answer."""

    async def nothing(*_: Any, **__: Any) -> Any:
        return answer

    return lambda _: nothing


def _returning(answer: Any = None) -> Callable[[Any], Any]:
    """Replace a function by one that does nothing else than return."""
    return lambda _: lambda *_, **__: answer


async def _refused(
    self: MessageBus, message: ToolConfirmationRequest, **_: Any
) -> ToolConfirmationResponse:
    return ToolConfirmationResponse(correlation_id=message.correlation_id, confirmed=False)


def _headless(init: Callable[..., None]) -> Callable[..., None]:
    return lambda self, *args, **kwargs: init(self, *args, **{**kwargs, "interactive": False})


_NOT_COMPRESSED: Final = CompressionInfo(
    original_token_count=0, new_token_count=0, status=CompressionStatus.NOOP
)
PROOFS: Final = {
    "checkpoints": Proof(
        "restore/edited",
        "side:restored",
        {"services.checkpoints.checkpoints:Checkpoints.save": _answering()},
    ),
    "compression": Proof(
        "compression/auto_at_half",
        "compression:asked",
        {
            "services.compression.service:ChatCompressionService.compress": _answering(
                CompressionResult(info=_NOT_COMPRESSED)
            )
        },
    ),
    "confirmations": Proof(
        "policy/cancelled_wave",
        "confirmed:exec.proceed_once",
        {"services.message_bus:MessageBus.request": lambda _: _refused},
    ),
    "fallback_handler": Proof(
        "fallback/handler_retry_once",
        "handler:retry_once",
        {"services.availability.fallback:FallbackHandler._carry_out": _answering(False)},
    ),
    "hooks": Proof(
        "hooks/request_blocked",
        "hook:agent_blocked",
        {"services.hooks.firing:HookFiring.fire": _answering()},
    ),
    "interactive": Proof(
        "policy/cancelled_wave",
        "policy:asked",
        {"services.policy.engine:PolicyEngine.__init__": _headless},
    ),
    "loop_question": Proof(
        "loops/dialog_disable",
        "question:loop.disable",
        {"services.loop_detection.question:LoopPrompt.__call__": _returning()},
    ),
    "masking": Proof(
        "masking/one_turn",
        "masking:masked",
        {"services.chat.chat:Chat.mask": _returning()},
    ),
    "mcp": Proof(
        "mcp/chosen_tools",
        "mcp:declared",
        {"services.mcp.manager:McpManager.discover": _answering()},
    ),
    "new_agents_question": Proof(
        "interaction/agents_acknowledged",
        "question:new_agents.acknowledge",
        {"services.subagents.registry:AgentRegistry.acknowledge": _answering()},
    ),
    "next_speaker": Proof(
        "next_speaker/other_word",
        "asked:utility_next_speaker",
        {
            "runtimes.legacy.client:model_goes_on": _answering(False),
            "runtimes.adk.continuation:model_goes_on": _answering(False),
        },
    ),
    "plan_mode": Proof(
        "plan/approved_auto_edit",
        "side:mode.plan",
        {
            "services.tools.enter_plan_mode:EnterPlanModeInvocation.execute": _answering(
                ToolResult(llm_content="done", return_display="done")
            )
        },
    ),
    "reset": Proof(
        "text/reset_between",
        "recorded:head_again",
        {"services.chat.succession:ChatSuccession.reset": _returning()},
    ),
    "resume": Proof(
        "resume/call_failed",
        "resume:history",
        {"services.chat.succession:ChatSuccession.resume": _returning()},
    ),
    "revert": Proof(
        "rewind/overwritten",
        "side:session_updated",
        {"runtimes.chat_runtime:revert_files": _returning()},
    ),
    "rewind": Proof(
        "resume/rewind_last",
        "recorded:rewind",
        {"services.chat.succession:ChatSuccession.rewind": _returning()},
    ),
    "routing": Proof(
        "routing/no_reasoning",
        "asked:utility_router",
        {"services.chat.succession:ChatSuccession.wanted_model": _answering("gemini-2.5-flash")},
    ),
    "sign_in_question": Proof(
        refused_sign_in,
        "question:sign_in.other",
        {"services.mcp.session:_asking": _returning()},
    ),
    "steering": Proof(
        "steering/while_tool_runs",
        "steering:hint",
        {"services.steering:MainInbox.before_answers": lambda _: lambda _, answers: answers},
    ),
    "subagents": Proof(
        "subagent/completes_at_once",
        "child:completed.custom",
        {
            "services.subagents.agent_tool:AgentCall.execute": _answering(
                ToolResult(llm_content="done", return_display="done")
            )
        },
    ),
    "trust_question": Proof(
        "interaction/trust_refused",
        "question:trust.DO_NOT_TRUST",
        {"services.folder_trust:TrustedFolders.trusts": _returning(True)},
    ),
    "validation_question": Proof(
        "interaction/validation_verified",
        "question:validation.verify",
        {"services.chat.attempt:account_validation": _returning()},
    ),
}


def test_each_feature_has_a_proof() -> None:
    assert PROOFS.keys() == BUILT


@pytest.mark.parametrize("feature", sorted(PROOFS))
def test_a_runtime_that_does_not_claim_a_feature_leaves_its_case_inconclusive(
    feature: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(adk, "TRAITS", RuntimeTraits(features=BUILT - {feature}))
    with PROOFS[feature].played() as one:
        assert feature in one.features
        result = judge(one)
    assert result.verdict is CaseVerdict.INCONCLUSIVE
    assert any(feature in blocker for blocker in result.blockers)


@pytest.mark.parametrize("engine", ["legacy", "adk"])
@pytest.mark.parametrize("feature", sorted(PROOFS))
def test_a_claimed_feature_shows_its_probe_and_its_mechanism_counts(
    feature: str, engine: str
) -> None:
    proof = PROOFS[feature]
    with ExitStack() as stack:
        one = stack.enter_context(proof.played())
        intact = run_cassette(one, engine)
        assert intact.error is None
        assert proof.probe in reached(intact)
        for target, broken in proof.breaks.items():
            stack.enter_context(replaced(target, broken))
        without = run_cassette(one, engine)
    result = compare(intact, without, one, WAIVERS)
    assert result.verdict is CaseVerdict.DIVERGENT
