import pytest

from services.masking_previews import output_preview, shell_preview
from services.wire import JsonObject


def lines(first: int, last: int) -> str:
    return "\n".join(map(str, range(first, last + 1)))


@pytest.mark.parametrize(
    ("response", "shown"),
    [
        ({"output": "plain"}, "plain"),
        (
            {"output": lines(1, 21)},
            f"{lines(1, 10)}\n\n... [1 lines omitted] ...\n\n{lines(12, 21)}",
        ),
        (
            {"output": f"Output: {lines(1, 22)}\nExit Code: 2", "exitCode": 2},
            f"Output: {lines(1, 10)}\n\n... [2 lines omitted] ...\n\n{lines(13, 22)}\nExit Code: 2",
        ),
        (
            {"output": "  pre \nError: bad\nOutput:  x \nSignal: 9"},
            "pre\nError: bad\nOutput: x\nSignal: 9",
        ),
        ({"output": "", "stdout": "from stdout"}, "from stdout"),
        ({"output": {"a": [1]}}, '{"a":[1]}'),
        (
            {"stdout": "Output: x\n", "exit_code": 3, "error": "boom"},
            "Output: x\n[Exit Code: 3]\n[Error: boom]",
        ),
        ({"output": "Output: x\rError: y", "exitCode": 0}, "Output: x\nError: y"),
        ({"output": "x", "exitCode": 4}, "x"),
        ({"output": "Output: x", "exitCode": False}, "Output: x\n[Exit Code: false]"),
        ({}, ""),
    ],
)
def test_a_shell_report_keeps_its_edges(response: JsonObject, shown: str) -> None:
    assert shell_preview(response) == shown


def test_other_outputs_keep_250_characters_at_either_end() -> None:
    assert output_preview("x" * 500) == "x" * 500
    text = "a" * 251 + "b" * 250
    assert output_preview(text) == f"{'a' * 250}\n... [TRUNCATED] ...\n{'b' * 250}"
