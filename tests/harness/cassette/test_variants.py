"""One cassette as two cases: without sessions for child agents, and with them."""

import xml.etree.ElementTree as ET
from dataclasses import replace
from datetime import date
from pathlib import Path

import pytest
import yaml
from click.testing import CliRunner, Result

from harness.cassette.find import find_cassettes
from harness.cassette.load import load_cassette
from harness.cassette.variants import as_variant, named_file, plain_name, variant_of
from harness.cli import parity
from harness.commands.shrink import load_shrinkable
from harness.errors import CassetteFormatError, CassetteNotFound
from harness.experiment.backend import real_backend
from harness.http.case import load_found
from harness.parity.divergence import ChannelName, Divergence, Kind
from harness.parity.waiver import Waiver
from harness.report.html_cassettes import cassette_text

FLAG = "agentSessionSubagentEnabled"


def written(folder: Path, name: str, *, phase: str = "B", **settings: object) -> Path:
    file = folder / f"{name}.yaml"
    file.parent.mkdir(parents=True, exist_ok=True)
    document = {
        "cassette": 1,
        "name": name,
        "phase": phase,
        "session": {"model": "gemini-2.5-flash", "settings": settings},
        "script": [{"send": "x"}],
        "model": [{"text": "hi"}],
    }
    file.write_text(yaml.safe_dump(document, sort_keys=False), "utf-8")
    return file


def names(*paths: Path, expr: str | None = None) -> list[str]:
    return [file.name for file in find_cassettes(paths, expr, variants=True)]


def invoke(*arguments: object) -> Result:
    words = [str(argument) for argument in arguments]
    return CliRunner().invoke(parity, words, obj=real_backend(), prog_name="parity")


def test_a_cassette_of_phase_b_is_two_cases(tmp_path: Path) -> None:
    written(tmp_path, "a/x")

    assert names(tmp_path) == ["a/x", "a/x@sessions"]


def test_other_phases_and_those_that_set_the_flag_are_one(tmp_path: Path) -> None:
    written(tmp_path, "a/x", phase="A")
    written(tmp_path, "a/y", adk={FLAG: False})

    assert names(tmp_path) == ["a/x", "a/y"]


def test_an_expression_can_choose_between_them(tmp_path: Path) -> None:
    written(tmp_path, "a/x")

    assert names(tmp_path, expr="not @sessions") == ["a/x"]
    assert names(tmp_path, expr="@sessions") == ["a/x@sessions"]


def test_a_variant_can_be_named_alone(tmp_path: Path) -> None:
    file = written(tmp_path, "a/x")

    (found,) = find_cassettes([tmp_path / "a/x.yaml@sessions"], variants=True)

    assert (found.name, found.path, found.root) == ("a/x@sessions", file, tmp_path)
    assert found.argument == f"{file}@sessions"


def test_a_variant_of_no_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(CassetteNotFound, match="does not exist"):
        find_cassettes([tmp_path / "a/x.yaml@sessions"])


def test_without_being_asked_there_are_no_variants(tmp_path: Path) -> None:
    written(tmp_path, "a/x")

    assert [file.name for file in find_cassettes([tmp_path])] == ["a/x"]


def test_the_variant_has_the_flag_and_all_else_as_it_was(tmp_path: Path) -> None:
    file = written(tmp_path, "a/x", maxSessionTurns=3, adk={"runtimeEnabled": True})
    plain = load_cassette(file)

    other = as_variant(plain, "sessions")

    assert other.name == "a/x@sessions"
    assert other.session.settings == {
        "maxSessionTurns": 3,
        "adk": {"runtimeEnabled": True, FLAG: True},
    }
    assert other.document["session"]["settings"] == other.session.settings
    assert plain.session.settings["adk"] == {"runtimeEnabled": True}
    assert (other.steps, other.script) == (plain.steps, plain.script)


def test_what_is_found_is_loaded_in_its_variant(tmp_path: Path) -> None:
    written(tmp_path, "a/x")
    plain, sessions = find_cassettes([tmp_path], variants=True)

    assert load_found(plain).name == "a/x"
    assert load_found(sessions).name == "a/x@sessions"


def test_other_names_with_the_mark_are_names(tmp_path: Path) -> None:
    assert variant_of("a/x@home") is None
    assert plain_name("a/x@home") == "a/x@home"
    assert named_file(tmp_path / "x@home.yaml") == (tmp_path / "x@home.yaml", None)


def test_no_cassette_may_be_called_as_a_variant_is(tmp_path: Path) -> None:
    with pytest.raises(CassetteFormatError, match="variant"):
        load_cassette(written(tmp_path, "a/x@sessions"))


def test_a_waiver_for_a_cassette_covers_its_variants_and_not_the_other_way() -> None:
    found = Divergence(
        cassette="a/x@sessions",
        channel=ChannelName.EVENTS,
        kind=Kind.MISSING,
        path="reason",
        control="a",
    )

    def waiver(scenario: str) -> Waiver:
        return Waiver(
            id="w",
            scenario=scenario,
            channel="events",
            path="reason",
            control="a",
            candidate="<absent>",
            impact="none",
            reason="it is meant so",
            owner="somebody",
            expires=date(2027, 1, 1),
            max_count=1,
        )

    sides = ("legacy", "adk")
    assert waiver("a/x").fits(found, sides)
    assert waiver("a/x@sessions").fits(found, sides)
    assert not waiver("a/x@sessions").fits(replace(found, cassette="a/x"), sides)


def test_a_report_shows_the_file_of_a_variant(tmp_path: Path) -> None:
    file = written(tmp_path, "a/x")

    shown = cassette_text("a/x@sessions", f"{file}@sessions")

    assert shown is not None
    assert "name: a/x" in shown.text


def test_run_judges_both_and_names_both(tmp_path: Path) -> None:
    corpus = tmp_path / "corpus"
    written(corpus, "a/x")
    junit, journal = tmp_path / "j.xml", tmp_path / "j.jsonl"

    ran = invoke("run", corpus, "--junit", junit, "--journal", journal, "-n", 1)

    assert ran.exit_code == 0, ran.output
    assert "2 parity of 2" in ran.output
    cases = [case.get("name") for case in ET.parse(junit).getroot().iter("testcase")]
    assert sorted(map(str, cases)) == ["x", "x@sessions"]
    again = invoke("run", corpus, "--journal", journal, "--resume", "-n", 1)
    assert again.exit_code == 0, again.output


def test_a_baseline_of_each_is_kept_and_agrees(tmp_path: Path) -> None:
    corpus, kept = tmp_path / "corpus", tmp_path / "kept"
    written(corpus, "a/x")

    made = invoke("baseline", corpus, "--runtime", "legacy", "--out", kept, "-n", 1)

    assert made.exit_code == 0, made.output
    assert sorted(file.name for file in (kept / "a").iterdir()) == ["x.json", "x@sessions.json"]
    ran = invoke("run", corpus, "--control", f"baseline:{kept}", "--candidate", "adk", "-n", 1)
    assert ran.exit_code == 0, ran.output
    assert "2 parity of 2" in ran.output


def test_trace_takes_the_plain_one_unless_a_variant_is_named(tmp_path: Path) -> None:
    file = written(tmp_path / "corpus", "a/x")
    out = tmp_path / "out"

    assert invoke("trace", tmp_path / "corpus", "--runtime", "legacy", "--out", out).exit_code == 0
    assert [each.name for each in (out / "a").iterdir()] == ["x.json"]
    named = invoke("trace", f"{file}@sessions", "--runtime", "legacy", "--out", out)
    assert named.exit_code == 0, named.output
    assert sorted(each.name for each in (out / "a").iterdir()) == ["x.json", "x@sessions.json"]


def test_show_shows_a_variant(tmp_path: Path) -> None:
    file = written(tmp_path, "a/x")

    shown = yaml.safe_load(invoke("show", f"{file}@sessions").output)

    assert shown["name"] == "a/x@sessions"
    assert shown["session"]["settings"]["adk"][FLAG] is True


def test_what_is_left_of_a_variant_when_it_is_shrunk_sets_the_flag_itself(tmp_path: Path) -> None:
    file = written(tmp_path, "a/x")

    loaded, document, _ = load_shrinkable(Path(f"{file}@sessions"), trust=False, out=tmp_path)

    assert (loaded.name, document["name"]) == ("a/x", "a/x")
    assert document["session"]["settings"]["adk"][FLAG] is True
    assert loaded.session.settings["adk"][FLAG] is True
