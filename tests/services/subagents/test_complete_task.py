"""`complete_task`: what it declares, what it refuses and in which words, what it hands in."""

from __future__ import annotations

from typing import Any

import pytest

from services.abort import AbortController
from services.subagents.complete_task import CompleteTaskTool
from services.subagents.definition import OutputConfig
from services.tools.contract import InvalidToolParams, ToolExecution
from services.wire import js_json
from tests.runtimes.upstream.stand_ins import needs_core
from tests.services.subagents.core_twin import from_core

REPORT = (
    "z.object({SummaryOfFindings: z.string(), ExplorationTrace: z.array(z.string()),"
    " RelevantLocations: z.array(z.object({FilePath: z.string(), Reasoning: z.string(),"
    " KeySymbols: z.array(z.string())}))})"
)
GOOD_LOCATION = {"FilePath": "a", "Reasoning": "r", "KeySymbols": ["s"]}
GOOD_REPORT = {
    "SummaryOfFindings": "s",
    "ExplorationTrace": ["a"],
    "RelevantLocations": [GOOD_LOCATION],
}
VALUES = (
    None, True, 1, 1.5, -3, 0, "", "a", "abcdef", [], ["a"], [1, "a", None], ["a", "b", "c", "d"],
    {}, {"a": "x"}, {"a": 1, "b": 2}, {"a": None}, {"b": "x"},
)  # fmt: skip
INNER = (
    "z.string()",
    "z.string().min(2)",
    "z.string().min(2).max(3)",
    "z.string().regex(/^b/)",
    "z.number()",
    "z.number().min(1).max(1.2)",
    "z.number().gt(1).lt(2)",
    "z.number().multipleOf(2)",
    "z.number().int()",
    "z.boolean()",
    "z.null()",
    "z.any()",
    "z.literal('a')",
    "z.literal(1)",
    "z.enum(['a', 'b'])",
    "z.string().nullable()",
    "z.string().optional()",
    "z.enum(['x']).nullable()",
    "z.array(z.string())",
    "z.array(z.string()).min(2)",
    "z.array(z.string()).max(3)",
    "z.array(z.object({a: z.string()}))",
    "z.object({a: z.string()})",
    "z.object({a: z.string(), b: z.number().optional()})",
    "z.object({a: z.string()}).nullable()",
    "z.object({a: z.literal('x'), b: z.union([z.string(), z.array(z.string())])})",
    "z.record(z.number())",
    "z.union([z.string(), z.number()])",
    "z.union([z.string().min(3), z.array(z.number())])",
    "z.union([z.object({a: z.string()}), z.object({b: z.string()})])",
)


def jobs() -> list[dict[str, Any]]:
    plain = [{"result": value} for value in VALUES] + [
        {},
        {"result": " \n "},
        {"result": "found it", "wait_for_previous": "no"},
        {"result": "found it", "wait_for_previous": True},
    ]
    builtin = [
        {},
        {"report": GOOD_REPORT},
        {"report": {**GOOD_REPORT, "more": 1}},
        {"report": {**GOOD_REPORT, "SummaryOfFindings": 1}},
        {"report": {**GOOD_REPORT, "ExplorationTrace": "a"}},
        {"report": {**GOOD_REPORT, "RelevantLocations": [GOOD_LOCATION, {"FilePath": 3}]}},
        *({"report": value} for value in VALUES),
    ]
    return [
        {"kind": "completeTask", "params": plain},
        {"kind": "completeTask", "params": builtin, "zod": REPORT},
        *(
            {
                "kind": "completeTask",
                "zod": inner,
                "params": [{}, *({"report": value} for value in VALUES)],
            }
            for inner in INNER
            # What is optional, or may be anything, is no output that an agent could be asked for.
            if "optional()" not in inner[-10:] and "any()" not in inner
        ),
    ]


async def ours(job: dict[str, Any], theirs: dict[str, Any]) -> dict[str, Any]:
    schema = theirs["schema"]
    output = schema and OutputConfig(name="report", description="d", schema=schema)
    tool = CompleteTaskTool(output)
    runs: list[Any] = []
    for params in job["params"]:
        try:
            call = tool.build(params)
        except InvalidToolParams as refused:
            runs.append(str(refused))
            continue
        done = await call.execute(ToolExecution(call_id="c", signal=AbortController().signal))
        assert done.data is not None
        runs.append([call.description(), done.llm_content, done.return_display, dict(done.data)])
    return {
        "about": [tool.name, tool.display_name, tool.description, str(tool.kind)],
        "declared": tool.declaration(),
        "schema": schema,
        "runs": runs,
    }


@needs_core
@pytest.mark.slow
async def test_every_value_is_validated_and_submitted_as_in_the_core() -> None:
    asked = jobs()
    for job, theirs in zip(asked, from_core(asked), strict=True):
        mine = await ours(job, theirs)
        for params, my, their in zip(job["params"], mine["runs"], theirs["runs"], strict=True):
            assert js_json(my) == js_json(their), (job.get("zod"), params)
        assert mine == theirs, job.get("zod")


def fault(tool: CompleteTaskTool, params: dict[str, Any]) -> str:
    with pytest.raises(InvalidToolParams) as refused:
        tool.build(params)
    return str(refused.value)


def test_the_schema_speaks_before_the_tool() -> None:
    shape = {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]}
    tool = CompleteTaskTool(OutputConfig(name="report", description="d", schema=shape))
    assert fault(tool, {}) == "params must have required property 'report'"
    assert fault(tool, {"report": {}}) == "params/report must have required property 'a'"
    assert fault(CompleteTaskTool(), {"result": " "}).startswith('Missing required "result" arg')


def test_the_submitted_output_is_processed_by_the_definition() -> None:
    shape = {"type": "object", "properties": {"answer": {"type": "string"}}}
    output = OutputConfig(name="report", description="d", schema=shape)
    tool = CompleteTaskTool(output, lambda value: f"<{value['answer']}>")
    assert tool.result({"report": {"answer": "yes"}}) == "<yes>"
    assert CompleteTaskTool(output).result({"report": {"answer": "yes"}}) == (
        '{\n  "answer": "yes"\n}'
    )
    assert CompleteTaskTool(None, lambda value: "never").result({"result": "as it is"}) == (
        "as it is"
    )
