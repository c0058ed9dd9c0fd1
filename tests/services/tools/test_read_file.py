from __future__ import annotations

import base64
import os

import pytest

from agent_protocol.events import TextDisplay, ToolDisplay
from services.tools.contract import ConfirmationOutcome, ToolErrorType, ToolFailure


async def test_a_whole_text_comes_back_as_it_is_and_shows_only_a_summary(bench):
    bench.write("a.txt", "alpha\nbeta\n")
    result = await bench.run("read_file", file_path="a.txt")
    assert result.llm_content == "alpha\nbeta\n"
    assert result.return_display == ""
    assert result.display == ToolDisplay(
        name="ReadFile",
        description="a.txt",
        result_summary="3 lines",
        result=TextDisplay(text=""),
    )


async def test_crlf_is_joined_by_newlines(bench):
    bench.write("a.txt", "one\r\ntwo\r\n")
    assert (await bench.run("read_file", file_path="a.txt")).llm_content == "one\ntwo\n"


async def test_more_than_2000_lines_are_cut_with_the_next_start_line(bench):
    bench.write("long.txt", "".join(f"line {n}\n" for n in range(1, 2501)))
    result = await bench.run("read_file", file_path="long.txt")
    head, _, body = result.llm_content.partition("--- FILE CONTENT (truncated) ---\n")
    assert head == (
        "\nIMPORTANT: The file content has been truncated.\n"
        "Status: Showing lines 1-2000 of 2501 total lines.\n"
        "Action: To read more of the file, you can use the 'start_line' and 'end_line' parameters "
        "in a subsequent 'read_file' call. For example, to read the next section of the file, use "
        "start_line: 2001.\n\n"
    )
    assert body.endswith("\nline 2000")
    assert result.return_display == "Read lines 1-2000 of 2501 from long.txt"
    assert result.display.result_summary == "1-2000 of 2501"


@pytest.mark.parametrize(
    ("window", "shown", "text"),
    [
        ({"start_line": 2}, "2-4 of 4", "b\nc\n"),
        ({"end_line": 1}, "1-1 of 4", "a"),
        ({"start_line": 2, "end_line": 2}, "2-2 of 4", "b"),
        ({"start_line": 99}, "5-4 of 4", ""),
    ],
)
async def test_a_chosen_window_counts_as_truncated(bench, window, shown, text):
    bench.write("a.txt", "a\nb\nc\n")
    result = await bench.run("read_file", file_path="a.txt", **window)
    assert result.display.result_summary == shown
    assert result.llm_content.endswith(f"--- FILE CONTENT (truncated) ---\n{text}")


async def test_long_lines_are_cut_by_utf16_units(bench):
    bench.write("wide.txt", "😀" * 1001)
    result = await bench.run("read_file", file_path="wide.txt")
    assert result.llm_content.endswith("😀" * 1000 + "... [truncated]")
    assert result.return_display == "Read all 1 lines from wide.txt (some lines were shortened)"


async def test_images_and_pdf_travel_as_inline_data(bench):
    bench.write("p.png", b"\x89PNG")
    bench.write("d.pdf", b"%PDF-1.4")
    image = await bench.run("read_file", file_path="p.png")
    assert image.llm_content == {
        "inlineData": {"data": base64.b64encode(b"\x89PNG").decode(), "mimeType": "image/png"}
    }
    assert image.display == ToolDisplay(
        name="ReadFile", description="p.png", result=TextDisplay(text="Read image file: p.png")
    )
    pdf = await bench.run("read_file", file_path="d.pdf")
    assert pdf.llm_content["inlineData"]["mimeType"] == "application/pdf"
    assert pdf.return_display == "Read pdf file: d.pdf"


@pytest.mark.parametrize(
    ("name", "content", "said", "shown"),
    [
        (
            "x.bin",
            b"text",
            "Cannot display content of binary file: x.bin",
            "Skipped binary file: x.bin",
        ),
        ("x", b"a\0b", "Cannot display content of binary file: x", "Skipped binary file: x"),
        ("s.svg", b"<svg/>", "<svg/>", "Read SVG as text: s.svg"),
        ("m.ts", b"let a\n", "let a\n", ""),
        ("w.wav", b"only words\n", "only words\n", ""),
        ("bom.txt", b"\xef\xbb\xbfhi", "hi", ""),
        ("wide.txt", "\ufeffhé".encode("utf-16-le"), "hé", ""),
        ("wider.txt", "\ufeffhé".encode("utf-32-be"), "hé", ""),
    ],
)
async def test_the_display_depends_on_the_kind_of_file(bench, name, content, said, shown):
    bench.write(name, content)
    result = await bench.run("read_file", file_path=name)
    assert (result.llm_content, result.return_display) == (said, shown)


async def test_sound_travels_under_its_normal_type(bench):
    bench.write("song.mp3", b"ID3\0\0\0")
    result = await bench.run("read_file", file_path="song.mp3")
    assert result.llm_content["inlineData"]["mimeType"] == "audio/mpeg"
    bench.write("s.xm", b"a\0")
    refused = await bench.run("read_file", file_path="s.xm")
    assert refused.error == ToolFailure(
        message=(
            f"Unsupported audio file format for {bench.root}/s.xm. Supported audio formats are "
            "MP3, WAV, AIFF, AAC, OGG, and FLAC."
        ),
        type=ToolErrorType.READ_CONTENT_FAILURE,
    )


async def test_large_svg_and_large_files_are_refused_each_in_its_way(bench):
    bench.write("s.svg", b" " * (1024 * 1024 + 1))
    result = await bench.run("read_file", file_path="s.svg")
    assert result.llm_content == "Cannot display content of SVG file larger than 1MB: s.svg"
    assert result.error is None
    with bench.write("big.txt").open("wb") as stream:
        stream.truncate(20 * 1024 * 1024 + 52_429)
    result = await bench.run("read_file", file_path="big.txt")
    assert result.error == ToolFailure(
        message=f"File size exceeds the 20MB limit: {bench.root}/big.txt (20.05MB)",
        type=ToolErrorType.FILE_TOO_LARGE,
    )


async def test_a_missing_file_and_a_folder_are_errors(bench):
    (bench.root / "d").mkdir()
    missing = await bench.run("read_file", file_path="missing.txt")
    assert missing.error == ToolFailure(
        message=f"File not found: {bench.root}/missing.txt", type=ToolErrorType.FILE_NOT_FOUND
    )
    assert missing.return_display == "File not found."
    folder = await bench.run("read_file", file_path="d")
    assert folder.error == ToolFailure(
        message=f"Path is a directory, not a file: {bench.root}/d",
        type=ToolErrorType.TARGET_IS_DIRECTORY,
    )
    assert folder.display is None


@pytest.mark.parametrize(
    ("params", "fault"),
    [
        ({}, "params must have required property 'file_path'"),
        ({"file_path": 3}, "params/file_path must be string"),
        ({"file_path": "a", "start_line": 0}, "params/start_line must be >= 1"),
        ({"file_path": "a", "start_line": 1.5}, "params/start_line must be integer"),
        ({"file_path": "  "}, "The 'file_path' parameter must be non-empty."),
        (
            {"file_path": "a", "start_line": 3, "end_line": 2},
            "start_line cannot be greater than end_line",
        ),
        (
            {"file_path": "a\nb"},
            "Invalid path: Path contains invalid characters (newlines or control characters).",
        ),
        (
            {"file_path": "y" * 300},
            (
                'Invalid path: Path component "yyyyyyyyyyyyyyyyyyyy..." is too long '
                "(maximum 255 characters)."
            ),
        ),
    ],
)
def test_wrong_arguments_are_refused_with_upstreams_messages(bench, params, fault):
    assert bench.fault("read_file", **params) == fault


@pytest.mark.parametrize("path", ["/etc/hostname", "../x", ".git/config", "sub/.env", "out/f"])
def test_paths_outside_and_blocked_names_are_refused(bench, path):
    (bench.root / "out").symlink_to("/etc")
    real = os.path.realpath(bench.root / path)
    assert bench.fault("read_file", file_path=path) == (
        f'Path not in workspace: Attempted path "{real}" resolves outside the allowed workspace '
        f"directories: {bench.root} or the project temp directory: "
        f"{bench.host.workspace.project_temp}"
    )


async def test_the_projects_temporary_folder_may_be_read(bench):
    note = bench.host.workspace.project_temp / "note.txt"
    note.parent.mkdir(parents=True)
    note.write_text("n")
    assert (await bench.run("read_file", file_path=str(note))).llm_content == "n"
    assert "Path not in workspace" in bench.fault(
        "read_file", file_path=str(note.parent / "memory" / ".inbox" / "x")
    )


def test_ignored_files_are_refused(bench):
    bench.git()
    bench.write(".gitignore", "*.log\n!keep.log\nbuild/\n")
    bench.write(".geminiignore", "private.md\n")
    for path in ("x.log", "private.md", "build/deep/o.txt"):
        assert bench.fault("read_file", file_path=path) == (
            f"File path '{bench.root}/{path}' is ignored by configured ignore patterns."
        )
    assert bench.build("read_file", file_path="keep.log").description() == "keep.log"


async def test_a_reference_prefix_and_percent_escapes_are_understood(bench):
    bench.write("src/a b.txt", "x")
    for path in ("@src/a b.txt", "src/a%20b.txt"):
        assert (await bench.run("read_file", file_path=path)).llm_content == "x"
    bench.write("@src/a b.txt", "literal")
    assert (await bench.run("read_file", file_path="@src/a b.txt")).llm_content == "literal"


def test_confirmation_and_policy_update(bench):
    invocation = bench.build("read_file", file_path="a.txt")
    details = invocation.confirmation_details()
    assert (details.type, details.title, details.fields) == (
        "info",
        "Confirm: ReadFile",
        {"prompt": "a.txt"},
    )
    assert invocation.policy_update(ConfirmationOutcome.PROCEED_ALWAYS) == {
        "argsPattern": r"\\0\"file_path\":\"a\.txt\"\\0"
    }
