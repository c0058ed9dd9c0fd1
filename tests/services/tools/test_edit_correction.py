from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from services.abort import AbortController, AbortError
from services.model.errors import ModelError
from services.model.utility import UtilityRequest
from services.tools.contract import ToolErrorType
from services.tools.edit_correction import EditCorrector
from services.wire import JsonObject


class Model:
    """Gives the answers in turn; an exception is raised."""

    def __init__(self, *answers: JsonObject | Exception) -> None:
        self.answers = list(answers)
        self.asked: list[UtilityRequest] = []

    async def generate_json(self, request: UtilityRequest, schema: JsonObject) -> JsonObject:
        self.asked.append(request)
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer

    async def generate_content(self, request: UtilityRequest) -> JsonObject:
        raise NotImplementedError

    def question(self, number: int = 0) -> str:
        return str(self.asked[number].contents[0]["parts"][0]["text"])


def mended(bench: Any, *answers: JsonObject | Exception) -> tuple[Any, Model]:
    model = Model(*answers)
    corrector = EditCorrector(model, prompt_id=lambda: "p")
    return type(bench)(replace(bench.host, corrector=corrector)), model


EDIT = {"file_path": "a.txt", "instruction": "upper $&", "old_string": "alhpa", "new_string": "A"}


async def test_the_model_corrects_a_text_that_is_not_found(bench: Any) -> None:
    bench, model = mended(bench, {"search": "alpha", "replace": "A", "explanation": "a typo"})
    (bench.root / "a.txt").write_bytes(b"alpha\r\nbeta\r\n")
    result = await bench.run("replace", **EDIT)
    assert result.error is None
    assert (bench.root / "a.txt").read_bytes() == b"A\r\nbeta\r\n"
    assert "<instruction>\nupper {instruction}\n</instruction>" in model.question()
    assert "<file_content>\nalpha\nbeta\n\n</file_content>" in model.question()
    assert (model.asked[0].config_key, model.asked[0].max_attempts) == ("llm-edit-fixer", 1)


@pytest.mark.parametrize(
    ("answer", "kind", "said"),
    [
        ({"search": "zz", "replace": "A"}, ToolErrorType.EDIT_NO_OCCURRENCE_FOUND, "Could not"),
        ({"search": "alpha", "replace": "alpha"}, ToolErrorType.EDIT_NO_OCCURRENCE_FOUND, "Could"),
        ({}, ToolErrorType.EDIT_NO_OCCURRENCE_FOUND, "Could not"),
        (ModelError("down"), ToolErrorType.EDIT_NO_OCCURRENCE_FOUND, "Could not"),
        (
            {"noChangesRequired": True, "explanation": "it is there"},
            ToolErrorType.EDIT_NO_CHANGE_LLM_JUDGEMENT,
            (
                "A secondary check by an LLM determined that no changes were necessary to fulfill "
                "the instruction. Explanation: it is there. Original error"
            ),
        ),
    ],
)
async def test_without_a_correction_the_first_failure_stays(
    bench: Any, answer: JsonObject | Exception, kind: ToolErrorType, said: str
) -> None:
    bench, _ = mended(bench, answer)
    (bench.root / "a.txt").write_text("alpha\n")
    result = await bench.run("replace", **EDIT)
    assert result.error.type is kind
    assert result.error.message.startswith(said)
    assert (bench.root / "a.txt").read_text() == "alpha\n"


async def test_the_model_corrects_the_same_failure_once(bench: Any) -> None:
    bench, model = mended(bench, {"search": "zz", "replace": "A"})
    (bench.root / "a.txt").write_text("alpha\n")
    await bench.run("replace", **EDIT)
    await bench.run("replace", **EDIT)
    assert len(model.asked) == 1


async def test_the_model_does_not_correct_white_space_or_data(bench: Any) -> None:
    bench, model = mended(bench)
    (bench.root / "a.txt").write_text("alpha\n")
    (bench.root / "a.json").write_text("{}")
    blank = await bench.run("replace", **{**EDIT, "old_string": "   "})
    assert blank.error.type is ToolErrorType.INVALID_TOOL_PARAMS
    data = await bench.run("replace", **{**EDIT, "file_path": "a.json"})
    assert data.error.type is ToolErrorType.EDIT_NO_OCCURRENCE_FOUND
    assert model.asked == []


async def test_the_model_corrects_surplus_escapes_once(bench: Any) -> None:
    bench, model = mended(bench, {"corrected_string_escaping": 'say("x")\n'})
    for name in ("a.py", "b.py"):
        await bench.run("write_file", file_path=name, content='say(\\"x\\")\\n')
        assert (bench.root / name).read_text() == 'say("x")\n'
    await bench.run("write_file", file_path="c.json", content='{\\"x\\": 1}')
    await bench.run("write_file", file_path="d.py", content="plain\n")
    assert len(model.asked) == 1
    assert '```\nsay(\\"x\\")\\n\n```' in model.question()
    assert model.asked[0].config_key == "edit-corrector"


@pytest.mark.parametrize(
    "answer", [{"corrected_string_escaping": ""}, {}, ModelError("down"), {"other": 1}]
)
async def test_without_an_answer_the_escapes_stay(
    bench: Any, answer: JsonObject | Exception
) -> None:
    bench, _ = mended(bench, answer)
    await bench.run("write_file", file_path="a.py", content="a\\nb")
    assert (bench.root / "a.py").read_text() == "a\\nb"


async def test_an_abort_ends_a_correction_and_a_write() -> None:
    controller = AbortController()
    controller.abort()
    corrector = EditCorrector(Model(AbortError(), AbortError()), prompt_id=str)
    params = {"old_string": "a", "new_string": "b"}
    fix = await corrector.fixed_edit(params, error="e", content="c", signal=controller.signal)
    assert fix is None
    with pytest.raises(AbortError):
        await corrector.unescaped("a\\nb", controller.signal)
