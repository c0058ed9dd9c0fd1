from __future__ import annotations

import pytest

from services.tools.contract import InvalidToolParams, ToolExecution
from services.tools.read_many_files import ReadManyFilesTool


async def read(bench, **params):
    call = ReadManyFilesTool(bench.host).build(params)
    return await call.execute(ToolExecution(call_id="c", signal=bench.controller.signal))


@pytest.fixture
def filled(bench):
    for path, content in {
        "b.txt": "beta\r\ngamma",
        "a.txt": "alpha",
        "dist/x.js": "x",
        "node_modules/n.txt": "n",
        "GEMINI.md": "g",
        "pic.png": b"\x89PNG\r\n\x1a\n\0",
        "raw.dat": b"\0\1",
        ".geminiignore": "*.log",
        "z.log": "l",
        "[1].txt": "brackets",
    }.items():
        bench.write(path, content)
    return bench


async def test_files_come_in_path_order_each_under_its_path(filled):
    root = filled.root
    result = await read(filled, include=["?.txt"])
    assert result.llm_content == [
        f"--- {root}/a.txt ---\n\nalpha\n\n",
        f"--- {root}/b.txt ---\n\nbeta\ngamma\n\n",
        "\n--- End of content ---",
    ]
    assert result.return_display["files"] == ["a.txt", "b.txt"]
    assert result.return_display["summary"] == (
        f"### ReadManyFiles Result (Target Dir: `{root}`)\n\nSuccessfully read and concatenated "
        "content from **2 file(s)**.\n\n**Processed Files:**\n- `a.txt`\n- `b.txt`"
    )


async def test_excluded_ignored_and_unrequested_files_are_not_read(filled):
    result = await read(filled, include=["**/*"])
    assert result.return_display["files"] == [
        ".geminiignore",
        "[1].txt",
        "a.txt",
        "b.txt",
        "raw.dat",
    ]
    assert result.return_display["skipped"] == [
        {"path": "1 file(s)", "reason": "ignored by project ignore files"},
        {
            "path": "pic.png",
            "reason": (
                "asset file (image/pdf/audio) was not explicitly requested by name or extension"
            ),
        },
    ]
    assert (
        f"--- {filled.root}/raw.dat ---\n\nCannot display content of binary file: raw.dat\n\n"
        in (result.llm_content)
    )


async def test_a_picture_that_is_named_comes_whole(filled):
    result = await read(filled, include=["*.png"])
    assert result.llm_content[0] == {
        "inlineData": {"data": "iVBORw0KGgoA", "mimeType": "image/png"}
    }


@pytest.mark.parametrize(
    ("params", "files"),
    [
        ({"include": ["dist/x.js"]}, []),
        ({"include": ["dist/x.js"], "useDefaultExcludes": False}, ["dist/x.js"]),
        ({"include": ["*.txt"], "exclude": ["b*"]}, ["[1].txt", "a.txt"]),
        ({"include": ["*.txt"], "exclude": ["B*"]}, ["[1].txt", "a.txt"]),
        ({"include": ["[1].txt", "A.TXT"]}, ["[1].txt", "a.txt"]),
        ({"include": ["z.log"]}, []),
        (
            {"include": ["z.log"], "file_filtering_options": {"respect_gemini_ignore": False}},
            ["z.log"],
        ),
        ({"include": ["../*"]}, []),
    ],
)
async def test_patterns_excludes_and_options(filled, params, files):
    assert (await read(filled, **params)).return_display["files"] == files


async def test_an_empty_result_is_reported(bench):
    result = await read(bench, include=["none"])
    assert result.llm_content == ["No files matching the criteria were found or all were skipped."]
    assert "No files were read and concatenated" in result.return_display["summary"]


async def test_long_files_are_cut_with_a_notice(bench):
    bench.write("long.txt", "x\n" * 3000)
    bench.write("wide.txt", "y" * 3000)
    first, second, _ = (await read(bench, include=["*.txt"])).llm_content
    assert first.count("\nx") == 2000
    assert "[WARNING: This file was truncated." in first
    assert second.endswith("y... [truncated]\n\n")


def test_patterns_must_not_be_empty(bench):
    with pytest.raises(InvalidToolParams, match="must NOT have fewer than 1 items"):
        ReadManyFilesTool(bench.host).build({"include": []})


def test_the_description_names_patterns_and_the_first_excludes(bench):
    call = ReadManyFilesTool(bench.host).build({"include": ["a", "b"]})
    assert call.description() == (
        f"Will attempt to read and concatenate files using patterns:\na`, `b\n (within target "
        f"directory:\n{bench.root}\n) . Excluding: patterns like\n**/node_modules/**`, "
        '`**/.git/**...`. File encoding: utf-8. Separator: "--- path/to/file.ext ---".'
    )
