from pathlib import Path
from typing import Any

import pytest

from services.compression.budget import OutputTruncation, split_point

Turn = dict[str, Any]


def said(role: str, text: str = "x" * 40) -> Turn:
    return {"role": role, "parts": [{"text": text}]}


CALL: Turn = {"role": "model", "parts": [{"functionCall": {"name": "t", "args": {}}}]}
ANSWERED: Turn = {"role": "user", "parts": [{"functionResponse": {"name": "t", "response": {}}}]}


@pytest.mark.parametrize(
    ("turns", "index"),
    [
        ([], 0),
        ([said("user")], 0),
        ([said("model")], 1),
        ([said("user"), said("model")], 2),
        ([said("user"), CALL], 0),
        ([said("user"), said("model"), said("user")], 2),
        ([said("user"), CALL, ANSWERED], 0),
        ([said("user"), CALL, ANSWERED, said("model")], 4),
        ([said("user"), said("model"), said("user"), CALL], 2),
        ([said("user"), said("model")] * 5, 8),
        ([said("user"), said("model")] * 5 + [said("user")], 8),
        ([said("user", "x" * 2000), said("model"), said("user"), said("model")], 2),
        ([said("user"), said("model"), said("user", "é" * 2000), said("model")], 4),
        ([said("user"), said("model"), {"role": "user"}, said("model")], 4),
    ],
)
def test_the_index_at_which_a_history_is_cut(turns: list[Turn], index: int) -> None:
    assert split_point(turns, 0.7) == index


@pytest.mark.parametrize("fraction", [0, 1, -0.5, 1.5])
def test_the_fraction_must_be_one(fraction: float) -> None:
    with pytest.raises(ValueError, match=r"^Fraction must be between 0 and 1$"):
        split_point([], fraction)


def output(response: Any, name: str | None = "read_file") -> Turn:
    answer = {"id": "c1", "name": name, "response": response}
    if name is None:
        del answer["name"]
    return {"role": "user", "parts": [{"functionResponse": answer}]}


def truncated(history: list[Turn], folder: Path, max_chars: int = 100) -> list[Turn]:
    return OutputTruncation(project_temp=folder, max_chars=lambda: max_chars).truncate(history)


def responses(history: list[Turn]) -> list[Any]:
    return [turn["parts"][0]["functionResponse"]["response"] for turn in history]


def test_a_history_that_fits_stays_the_same_object(tmp_path: Path) -> None:
    history = [said("user"), CALL, output({"output": "x" * 200_000})]

    kept = truncated(history, tmp_path)

    assert kept == history
    assert all(one is other for one, other in zip(kept, history, strict=True))
    assert not (tmp_path / "tool-outputs").exists()


def test_the_newest_outputs_are_kept_and_older_ones_saved(tmp_path: Path) -> None:
    old, new = "a" * 100_000 + "end", "b" * 150_000
    history = [output({"output": old}, "Run It"), output({"output": new})]

    kept = truncated(history, tmp_path)

    file = tmp_path / "tool-outputs" / "run_it_1.txt"
    assert file.read_text() == old
    shortened = {
        "output": "Output too large. Showing first 20 and last 80 characters. For full output "
        f"see: {file}\n{'a' * 20}\n\n... [99,903 characters omitted] ...\n\n{'a' * 77}end"
    }
    assert responses(kept) == [shortened, {"output": new}]
    assert kept[0]["parts"][0]["functionResponse"]["id"] == "c1"
    assert history[0] == output({"output": old}, "Run It")


def test_within_a_turn_the_last_output_is_the_newest(tmp_path: Path) -> None:
    turn = {
        "role": "user",
        "parts": [
            *output({"output": "a" * 150_000})["parts"],
            {"text": "between"},
            *output({"output": "b" * 150_000})["parts"],
        ],
    }

    (kept,) = truncated([turn], tmp_path)

    assert [next(iter(part)) for part in kept["parts"]] == [
        "functionResponse",
        "text",
        "functionResponse",
    ]
    assert kept["parts"][0]["functionResponse"]["response"]["output"].startswith("Output too")
    assert kept["parts"][2] is turn["parts"][2]


def test_a_shortened_output_counts_with_what_is_left_of_it(tmp_path: Path) -> None:
    sizes = (200, 199_000, 100_000, 199_000)
    history = [output({"output": "x" * size}) for size in sizes]

    shown = [len(response["output"]) for response in responses(truncated(history, tmp_path))]

    assert (shown[0], shown[3]) == (200, 199_000)
    assert max(shown[1:3]) < 400
    saved = {file.name: file.stat().st_size for file in (tmp_path / "tool-outputs").iterdir()}
    assert saved == {"read_file_1.txt": 100_000, "read_file_2.txt": 199_000}


@pytest.mark.parametrize(
    ("response", "text"),
    [
        ("s" * 9, "s" * 9),
        ({"output": "oooo", "content": "cccc"}, "oooo"),
        ({"output": 5, "content": "cccc"}, "cccc"),
        ({"error": "é"}, '{\n  "error": "é"\n}'),
        ([1, "a"], '[\n  1,\n  "a"\n]'),
        (None, "null"),
    ],
)
def test_the_saved_text_of_an_output(tmp_path: Path, response: Any, text: str) -> None:
    filler = output({"output": "x" * 200_000})

    truncated([output(response), filler], tmp_path)

    assert (tmp_path / "tool-outputs" / "read_file_1.txt").read_text() == text


def test_an_output_that_says_nothing_stays(tmp_path: Path) -> None:
    silent = {"role": "user", "parts": [{"functionResponse": {"name": "t"}}]}

    kept = truncated([silent, output({"output": "x" * 200_000})], tmp_path)

    assert kept[0] is silent


def test_a_nameless_tool_has_a_file_too(tmp_path: Path) -> None:
    truncated([output("x" * 9, None), output({"output": "x" * 200_000})], tmp_path)

    assert (tmp_path / "tool-outputs" / "unknown_tool_1.txt").exists()


def test_files_are_numbered_over_the_sessions_life(tmp_path: Path) -> None:
    truncation = OutputTruncation(project_temp=tmp_path, max_chars=lambda: 10)
    history = [output("a" * 99), output({"output": "x" * 200_000})]
    for _ in range(2):
        truncation.truncate(history)

    assert len(list((tmp_path / "tool-outputs").iterdir())) == 2


def test_an_output_that_cannot_be_saved_stays_whole(tmp_path: Path) -> None:
    (tmp_path / "tool-outputs").write_text("in the way")
    history = [output("a" * 99), output({"output": "x" * 200_000})]

    assert truncated(history, tmp_path) == history


def test_a_turn_without_parts_gets_an_empty_list(tmp_path: Path) -> None:
    assert truncated([{"role": "user"}], tmp_path) == [{"role": "user", "parts": []}]
