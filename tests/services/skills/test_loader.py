from __future__ import annotations

from pathlib import Path

import pytest

from services.skills.loader import load_skill, load_skills, read_front_matter


def skill_at(folder: Path, text: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / "SKILL.md"
    file.write_text(text)
    return file


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("name: a\ndescription: b", ("a", "b")),
        ("name: a\ndescription: >\n  folded\n  text", ("a", "folded text\n")),
        (
            "name: a\ndescription: Use: when it\n  goes on\n\tand on\nother: x",
            ("a", "Use: when it goes on and on"),
        ),
        ("name: 12\ndescription: yes", ("12", "yes")),
        ("name: a\ndescription: first: x\ndescription: last: y", ("a", "last: y")),
        ("description: only: this", None),
        ("- a\n- b", None),
        ("", None),
    ],
)
def test_front_matter_is_yaml_or_else_lines(text, expected):
    assert read_front_matter(text) == expected


def test_a_skill_is_its_front_matter_and_the_text_after_it(tmp_path):
    file = skill_at(tmp_path, '---\r\nname: "a:b/c"\r\ndescription: d\r\n---\r\n\r\n Do it. \r\n')
    skill = load_skill(file)
    assert (skill.name, skill.description, skill.body) == ("a-b-c", "d", "Do it.")
    assert skill.folder == tmp_path


@pytest.mark.parametrize(
    "text", ["no front matter", "\n---\nname: a\ndescription: b\n---\n", "---\nname: a\n---\n"]
)
def test_a_file_without_proper_front_matter_is_none(tmp_path, text):
    assert load_skill(skill_at(tmp_path, text)) is None


def test_skills_are_the_folders_own_and_those_one_level_down(tmp_path):
    for name in (".", "b", "a", "a/deep", ".hidden", "node_modules"):
        skill_at(tmp_path / name, f"---\nname: {name}\ndescription: d\n---")
    assert [skill.name for skill in load_skills(tmp_path)] == [".", "a", "b"]


def test_a_folder_that_is_not_there_has_none(tmp_path):
    assert load_skills(tmp_path / "none") == []


def test_a_skill_with_endless_front_matter_is_left_out(tmp_path, caplog):
    lines = "".join(f"k{number}: {number}\n" for number in range(20_000))
    file = skill_at(tmp_path, f"---\nname: x\ndescription: y\n{lines}---\nGo.\n")
    assert load_skill(file) is None
    assert "its front matter is longer than 100000 characters" in caplog.text
