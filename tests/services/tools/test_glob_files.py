from __future__ import annotations

import os

import pytest

from services.tools.globbing import GlobBudget, expand_braces, find_files, path_pattern, walk_files

OLD = 1_000_000_000


def tree(bench, *names: str) -> None:
    for name in names:
        file = bench.write(name)
        os.utime(file, (OLD, OLD))


def names(bench, result) -> list[str]:
    return [line.removeprefix(f"{bench.root}/") for line in result.llm_content.splitlines()[1:]]


async def test_recent_files_come_newest_first_and_old_ones_by_name(bench):
    tree(bench, "b.py", "A.py", "src/c.py")
    now = bench.host.clock.now_ms() / 1000
    for age, name in ((60, "older.py"), (5, "newer.py")):
        os.utime(bench.write(name), (now - age, now - age))
    result = await bench.run("glob", pattern="**/*.py")
    assert result.llm_content.splitlines()[0] == (
        f'Found 5 file(s) matching "**/*.py" within {bench.root}, sorted by modification time '
        "(newest first):"
    )
    assert names(bench, result) == ["newer.py", "older.py", "A.py", "b.py", "src/c.py"]
    assert result.return_display == "Found 5 matching file(s)"
    assert result.display is None


async def test_nothing_found_is_no_error(bench):
    result = await bench.run("glob", pattern="*.zip")
    assert result.llm_content == f'No files found matching pattern "*.zip" within {bench.root}'
    assert result.return_display == "No files found"
    assert result.error is None


async def test_ignored_files_are_counted(bench):
    bench.git()
    bench.write(".gitignore", "*.log\n")
    tree(bench, "a.log", "b.log", "c.txt", "node_modules/d.log")
    found = await bench.run("glob", pattern="{a.log,c.txt}")
    assert "(1 additional files were ignored), sorted" in found.llm_content
    none = await bench.run("glob", pattern="*.log")
    assert none.llm_content.endswith(" (2 files were ignored)")
    every = await bench.run("glob", pattern="**/*.log", respect_git_ignore=False)
    assert names(bench, every) == ["a.log", "b.log"]


async def test_a_pattern_that_is_a_path_is_taken_literally(bench):
    tree(bench, "[id].tsx", "i.tsx")
    result = await bench.run("glob", pattern="[id].tsx")
    assert names(bench, result) == ["[id].tsx"]


@pytest.mark.parametrize(
    ("params", "description"),
    [({}, "'*.py'"), ({"dir_path": "src"}, "'*.py' within src")],
)
def test_descriptions(bench, params, description):
    bench.write("src/a.py")
    assert bench.build("glob", pattern="*.py", **params).description() == description


@pytest.mark.parametrize(
    ("params", "fault"),
    [
        ({"pattern": " "}, "The 'pattern' parameter cannot be empty."),
        ({"pattern": "*", "dir_path": "nope"}, "Search path does not exist {root}/nope"),
        ({"pattern": "*", "dir_path": "a.txt"}, "Search path is not a directory: {root}/a.txt"),
    ],
)
def test_wrong_arguments(bench, params, fault):
    bench.write("a.txt")
    assert bench.fault("glob", **params) == fault.format(root=bench.root)


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("*.txt", [".c.txt", "a.txt", "B.txt"]),
        ("b.TXT", ["B.txt"]),
        ("?.txt", ["a.txt", "B.txt"]),
        ("[a-b].txt", ["a.txt", "B.txt"]),
        ("[!a].txt", ["B.txt"]),
        ("[A\\-Z].txt", ["a.txt"]),
        ("{a,b}.txt", ["a.txt", "B.txt"]),
        ("!(a).txt", [".c.txt", "B.txt"]),
        ("@(a|x).txt", ["a.txt"]),
        ("**/d.*", ["s/d.py", "s/t/d.py"]),
        ("s/*", ["s/d.py"]),
        ("./s/../s/d.py", ["s/d.py"]),
        ("s/**", ["s/d.py", "s/t/d.py"]),
        ("s/", []),
        ("**/node_modules/**", []),
    ],
)
def test_patterns(bench, pattern, expected):
    tree(bench, "a.txt", "B.txt", ".c.txt", "s/d.py", "s/t/d.py", "node_modules/n.txt")
    found = find_files(bench.root, pattern, literal=False, budget=GlobBudget())
    assert [os.path.relpath(path, bench.root) for path in found] == expected


def test_case_counts_on_demand(bench):
    tree(bench, "a.txt")
    budget = GlobBudget()
    assert not find_files(bench.root, "A.txt", case_sensitive=True, literal=False, budget=budget)


@pytest.mark.parametrize(
    ("pattern", "expanded"),
    [
        ("a{b,c{d,e}}f", ["abf", "acdf", "acef"]),
        ("{1..3}", ["1", "2", "3"]),
        ("{3..1..2}", ["3", "1"]),
        ("{a}", ["{a}"]),
        ("{a,b", ["{a,b"]),
        ("x{}{a,b}", ["x{}a", "x{}b"]),
    ],
)
def test_braces(pattern, expanded):
    assert expand_braces(pattern) == expanded


def test_whole_paths_match_by_last_name_unless_the_pattern_has_a_slash():
    assert path_pattern("*.py").fullmatch("a/b/c.py")
    assert not path_pattern("a/*.py").fullmatch("a/b/c.py")
    assert path_pattern("a/**").fullmatch("a/b/c.py")


def test_files_are_walked_in_gits_order(bench):
    tree(bench, "a/z", "a-b", "a.c", "B", "node_modules/x")
    walked = [os.path.relpath(path, bench.root) for path in walk_files(bench.root)]
    assert walked == ["B", "a-b", "a.c", "a/z"]


@pytest.mark.timeout(60)
@pytest.mark.parametrize("pattern", ["{a,b}" * 25, "{1..999999999}", "!(a)" * 40])
async def test_a_pattern_that_stands_for_too_much_is_an_error(bench, pattern):
    result = await bench.run("glob", pattern=pattern)
    assert result.error is not None
    assert result.error.message.startswith("Error during glob search operation: The ")
