"""Linking skills."""

from __future__ import annotations

from pathlib import Path

import pytest

from services.skills.linking import SkillsNotLinked, link_skills, linkable_skills


def skill(folder: Path, name: str, place: str | None = None) -> Path:
    made = folder / (place or name.replace("/", "_"))
    made.mkdir(parents=True)
    (made / "SKILL.md").write_text(f"---\nname: {name}\ndescription: D.\n---\nDo.")
    return made


def test_a_link_takes_the_place_of_what_is_there(tmp_path: Path) -> None:
    source, target = tmp_path / "source", tmp_path / "target"
    made = skill(source, "tidy")
    (target / "tidy" / "old").mkdir(parents=True)

    skills = linkable_skills(source)
    assert list(link_skills(skills, target)) == ["tidy"]
    assert list(link_skills(skills, target)) == ["tidy"]
    assert (target / "tidy").readlink() == made
    assert (made / "SKILL.md").exists()


@pytest.mark.parametrize(
    ("names", "words"),
    [([], "No valid skills found"), (["a", "a"], "Duplicate skill name"), ([".."], "traversal")],
)
def test_some_folders_are_refused(tmp_path: Path, names: list[str], words: str) -> None:
    source = tmp_path / "source"
    source.mkdir()
    for number, name in enumerate(names):
        skill(source, name, f"s{number}")

    with pytest.raises(SkillsNotLinked, match=words):
        linkable_skills(source)
