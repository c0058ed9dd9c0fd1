from pathlib import Path

import pytest

from services.output_files import (
    OutputFileError,
    node_utf8,
    safe_filename_part,
    save_tool_output,
    tool_outputs_folder,
    truncated_output,
)


def test_a_name_keeps_letters_digits_and_two_signs() -> None:
    # An astral character is two UTF-16 units, and becomes two underscores.
    assert safe_filename_part("A b/é\U0001f600_-9") == "A_b_____-9"


@pytest.mark.parametrize(
    ("tool", "output_id", "name"),
    [
        ("read_file", "read_file__7", "read_file__7.txt"),
        ("Mcp/X", "A 1", "mcp_x_a_1.txt"),
        ("grep_search", 3, "grep_search_3.txt"),
    ],
)
def test_a_file_is_called_after_tool_and_call(
    tmp_path: Path, tool: str, output_id: str | int, name: str
) -> None:
    file = save_tool_output("text", tool, output_id, tmp_path / "a" / "b")

    assert file == tmp_path / "a" / "b" / name
    assert file.read_text() == "text"


def test_outputs_are_kept_apart_by_session(tmp_path: Path) -> None:
    assert tool_outputs_folder(tmp_path, "s/1") == tmp_path / "tool-outputs" / "session-s_1"
    assert tool_outputs_folder(tmp_path, None) == tmp_path / "tool-outputs"


def test_a_file_that_cannot_be_written_has_nodes_message(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")

    with pytest.raises(OutputFileError, match=r"^ENOTDIR: not a directory, mkdir '.*/file/x'$"):
        save_tool_output("text", "t", "1", tmp_path / "file" / "x")


def test_half_a_surrogate_pair_is_written_as_a_replacement() -> None:
    assert node_utf8("a\ud83d\x00b") == "a\ufffd\x00b".encode()
    assert node_utf8("\ud83d\ude00") == "\U0001f600".encode()


@pytest.mark.parametrize(
    ("text", "limit", "shown"),
    [
        (
            "0123456789abcdefghij",
            10,
            (
                "Output too large. Showing first 2 and last 8 characters. For full output see: "
                "/f\n01\n\n... [10 characters omitted] ...\n\ncdefghij"
            ),
        ),
        (
            "ab",
            1,
            (
                "Output too large. Showing first 0 and last 1 characters. For full output see: "
                "/f\n\n\n... [1 characters omitted] ...\n\nb"
            ),
        ),
        ("\U0001f600\U0001f600", 4, "\U0001f600\U0001f600"),
    ],
)
def test_a_fifth_of_the_limit_is_from_the_beginning(text: str, limit: int, shown: str) -> None:
    assert truncated_output(text, "/f", limit) == shown


def test_counts_are_grouped_by_thousands() -> None:
    shown = truncated_output("x" * 12_345, "/f", 5000)

    assert "first 1,000 and last 4,000 characters" in shown
    assert "[7,345 characters omitted]" in shown
