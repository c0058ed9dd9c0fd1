"""What the real API would object to, and of whom that is known: goldens, baselines, seeded faults.

The goldens lie beside the checkout; what needs them skips where they are absent.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest

from harness.baseline.core import known_core_findings
from harness.cassette.find import find_cassettes
from harness.cassette.format import Cassette
from harness.cassette.load import load_cassette
from harness.explain import explain
from harness.faults.force import in_force
from harness.parity.compare import compare
from harness.parity.divergence import ChannelName, Kind
from harness.parity.provider import CoreFindings, FindingKey
from harness.parity.verdict import CaseResult, CaseVerdict
from harness.provider.check import ProviderCheck
from harness.replay.runner import run_cassette
from parity_tests.corpus import CORPUS, ROOT, SHARED, WAIVERS, cassette
from seeded_faults import Behaviour, Fault, Site
from seeded_faults.patching import replaced
from services.abort import AbortController
from services.model.generator import LlmRole, ModelRequest
from services.wire import Content, JsonObject

ORACLE = SHARED / "oracle"
BASELINES = ROOT / "baselines" / "upstream"

needs_goldens = pytest.mark.skipif(
    not ORACLE.is_dir(), reason="needs the conformance suite beside the checkout (../shared/oracle)"
)


def goldens() -> list[str]:
    found = find_cassettes([ORACLE / "cassettes"]) if ORACLE.is_dir() else []
    return [file.name for file in found] or ["absent"]


def requests_of(golden: JsonObject) -> Iterator[tuple[int, ModelRequest]]:
    """The golden's questions to a model with their indices; what is only counted is none.

    Contents and tools are written as differences from the role's request before.
    """
    contents: dict[str, list[Content]] = {}
    tools: dict[str, list[str]] = {}
    for index, request in enumerate(golden.get("requests", ())):
        role = request["role"]
        shared = contents.get(role, [])[: request["sameAsPrevious"]]
        contents[role] = shared + request["newContents"]
        if isinstance(request.get("tools"), list):
            tools[role] = request["tools"]
        declared = [{"name": name} for name in tools.get(role, ())]
        if request["method"].startswith("generateContent"):
            yield (
                index,
                ModelRequest(
                    model=request["model"],
                    contents=contents[role],
                    role=LlmRole(role),
                    prompt_id="p",
                    signal=AbortController().signal,
                    config={
                        **(request.get("config") or {}),
                        "tools": [{"functionDeclarations": declared}] if declared else [],
                    },
                ),
            )


def golden_findings(name: str) -> frozenset[FindingKey]:
    """What the API would object to in what the published core was seen to ask."""
    golden = json.loads((ORACLE / "golden" / f"{name}.json").read_text())
    check = ProviderCheck()
    return frozenset(
        (index, finding.rule, finding.path)
        for index, request in requests_of(golden)
        for finding in check.examine(request)
    )


@needs_goldens
def test_the_goldens_contain_what_the_api_objects_to() -> None:
    rules = {rule for name in goldens() for _, rule, _ in golden_findings(name)}

    assert rules == {"call-unanswered", "response-uncalled", "call-undeclared", "role-repeated"}


@needs_goldens
@pytest.mark.parametrize("name", goldens())
@pytest.mark.sampled(20)
def test_exactly_what_the_goldens_contain_is_inherited(name: str) -> None:
    one = load_cassette(ORACLE / "cassettes" / f"{name}.yaml", ORACLE / "cassettes")
    legacy, adk = run_cassette(one, "legacy"), run_cassette(one, "adk")
    if (legacy.error or "").startswith("not supported by this build"):
        pytest.skip(f"{legacy.error}: neither runtime asks the model anything")
    contained = golden_findings(name)

    result = compare(legacy, adk, one, WAIVERS, core=CoreFindings(keys=contained))

    assert {(each.request, each.finding.rule, each.finding.path) for each in result.inherited} == (
        contained
    )
    assert {each.by for each in result.inherited} <= {"both"}
    assert [each.place for each in result.open if each.channel is ChannelName.PROVIDER] == []


def fault(site: Site, target: str, wrap: Callable[[Any], Any]) -> Fault:
    return Fault(
        name="the-last-response-dropped",
        site=site,
        behaviour=Behaviour.TOOLS,
        says="Of several calls the last one's response is not sent.",
        origin="an off by one",
        breaks=lambda: replaced(target, wrap),
    )


def without_last(answer: Any) -> Any:
    return lambda self, completed: answer(self, completed)[:-1]


def without_response(succeeded: Any) -> Any:
    async def broken(self: Any, call: Any, result: Any) -> Any:
        response = await succeeded(self, call, result)
        return replace(response, response_parts=()) if call.call_id.endswith("_1") else response

    return broken


LEGACY = fault(Site.LEGACY, "runtimes.legacy.agent:_Stream._answer", without_last)
SHARED_BY_BOTH = fault(
    Site.SERVICE, "services.scheduler.execution:ToolExecutor._succeeded", without_response
)


def judged(one: Cassette, broken: Fault) -> CaseResult:
    with in_force(broken, "legacy"):
        legacy = run_cassette(one, "legacy")
    with in_force(broken, "adk"):
        adk = run_cassette(one, "adk")
    core = known_core_findings([BASELINES], one.name, CORPUS / f"{one.name}.yaml")
    assert core.keys is not None
    return compare(legacy, adk, one, WAIVERS, core=core)


def objections(result: CaseResult) -> list[tuple[str, Kind]]:
    return [(each.label, each.kind) for each in result.open if each.channel is ChannelName.PROVIDER]


def test_a_response_that_one_runtime_drops_is_what_the_api_refuses() -> None:
    result = judged(cassette("tools/parallel_reads"), LEGACY)

    assert objections(result) == [("call-unanswered", Kind.MISSING)]


def test_a_response_that_both_drop_is_not_what_the_core_does() -> None:
    result = judged(cassette("tools/parallel_reads"), SHARED_BY_BOTH)

    assert objections(result) == [("call-unanswered", Kind.UNINHERITED)]
    assert result.verdict is CaseVerdict.DIVERGENT
    assert {each.channel for each in result.open} == {ChannelName.PROVIDER}
    assert "the published core did not" in "\n".join(explain(result, "legacy", "adk"))
