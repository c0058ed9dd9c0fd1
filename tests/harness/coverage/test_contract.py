from pathlib import Path

import pytest

from harness.config import default_contract
from harness.coverage.contract import BehaviourClass, ContractFileError, load_contract

HEAD = "| id | behaviour | probes | source |\n| --- | --- | --- | --- |\n"
ROW = "| P-001 | It ends. | `end:*` | core `x.ts` |\n"


def written(folder: Path, text: str) -> Path:
    file = folder / "contract.md"
    file.write_text(text)
    return file


def contract(*rows: str, phase: str = "A", kind: str = "streaming") -> str:
    return f"# Title\n\n| a | table |\n\n## Phase {phase}: x\n\n### {kind}\n\n{HEAD}{''.join(rows)}"


def test_a_row_is_a_behaviour_of_the_phase_and_class_above_it(tmp_path: Path) -> None:
    more = "### tools, and more\n" + HEAD + ROW.replace("P-001", "P-007").replace("`end", "`tool")
    last = "## Phase B\n### subagents\n" + HEAD + ROW.replace("P-001", "P-0008")

    loaded = load_contract(written(tmp_path, contract(ROW) + more + last))

    assert [(each.id, each.phase, each.behaviour_class) for each in loaded.behaviours] == [
        ("P-001", "A", BehaviourClass.STREAMING),
        ("P-007", "A", BehaviourClass.TOOLS),
        ("P-0008", "B", BehaviourClass.SUBAGENTS),
    ]
    first = loaded.behaviours[0]
    assert (first.title, str(first.probes), first.source) == ("It ends.", "end:*", "core `x.ts`")
    assert loaded.classes("A") == (BehaviourClass.STREAMING, BehaviourClass.TOOLS)
    assert loaded.classes() == (*loaded.classes("A"), BehaviourClass.SUBAGENTS)
    assert loaded.by_id("P-007") == loaded.behaviours[1]
    assert loaded.by_id("P-002") is None
    assert loaded.unknown(["P-001", "P-2", "P-007"]) == ("P-2",)
    assert loaded.of_probes(["end:aborted"]) == ("P-001", "P-0008")
    assert loaded.of_probes([]) == ()


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("", 0, "there is no behaviour in it"),
        ("# Only\n\nwords\n", 0, "there is no behaviour in it"),
        (contract(ROW, ROW), 12, "P-001 is there twice"),
        (contract(ROW, kind="strea"), 7, "there is no class 'strea'"),
        (contract(ROW, phase="D"), 5, "there is no phase 'D'"),
        (contract(ROW.replace("P-001", "P-1")), 11, "'P-1' is no id"),
        (contract(ROW.replace("core `x.ts`", "")), 11, "P-001 has no source"),
        (contract(ROW.replace("It ends.", " ")), 11, "P-001 has no behaviour"),
        (contract(ROW.replace("`end:*`", "")), 11, "P-001 has no probes"),
        (contract(ROW.replace("end:*", "ends:*")), 11, "'ends:*' is no probe of a known kind"),
        (contract(ROW.replace("end:*", "end")), 11, "'end' is no probe of a known kind"),
        (contract(ROW.replace("end:*", "end:")), 11, "'end:' is no probe of a known kind"),
        (contract(ROW.replace("end:*", "end:* and")), 11, "a probe is missing"),
        (contract("| P-001 | It ends. |\n"), 11, "has 2 cells"),
        (contract("| P-001 | a | b | c | d |\n"), 11, "has 5 cells"),
        ("## Phase A\n" + HEAD + ROW, 4, "belongs to no class"),
    ],
)
def test_the_error_of_an_incomplete_row_names_its_line(
    tmp_path: Path, text: str, line: int, words: str
) -> None:
    with pytest.raises(ContractFileError) as caught:
        load_contract(written(tmp_path, text))

    assert words in str(caught.value)
    assert caught.value.line == line
    assert str(caught.value).startswith(f"{caught.value.file}{f':{line}' if line else ''}: ")


def test_an_unreadable_file_is_an_error(tmp_path: Path) -> None:
    binary = tmp_path / "binary.md"
    binary.write_bytes(b"\xff\xfe")
    large = tmp_path / "large.md"
    large.write_bytes(b" " * (1024 * 1024 + 1))

    for file in (tmp_path, tmp_path / "missing.md", binary, large):
        with pytest.raises(ContractFileError):
            load_contract(file)


def test_without_a_file_there_is_an_empty_contract() -> None:
    assert load_contract(None).behaviours == ()
    assert load_contract(None).digest == ""


def test_the_projects_own_contract_is_found_and_read() -> None:
    loaded = load_contract(default_contract())

    assert len(loaded.behaviours) > 100
    assert len(loaded.digest) == 64
    assert set(loaded.classes()) == set(BehaviourClass)
