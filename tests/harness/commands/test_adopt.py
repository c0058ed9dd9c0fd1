import errno
import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner, Result

from harness.baseline.files import read_baseline
from harness.cassette.load import load_cassette
from harness.cli import parity
from harness.experiment.backend import Backend, LoadedCassette, real_backend
from harness.replay.observation import Observation

REPOSITORY = Path(__file__).parents[3]
FOUND = Path(".parity/found/shrunk/2fa3272ca154.yaml")
README = (
    "# The corpus\n\n| family | cassettes | about |\n| --- | --- | --- |\n| `text` | 3 | plain |\n"
)
SECRET = "sk-very-secret-value"

FINDING: dict[str, Any] = {
    "cassette": 1,
    "name": "shrunk/2fa3272ca154",
    "note": "adk against legacy: events[4] usage (extra)",
    "phase": "A",
    "provenance": {"kind": "shrunk", "source": "shrunk from tools/batch", "seed": 12345},
    "session": {"model": "gemini-2.5-flash"},
    "script": [{"send": "ok"}],
    "model": [{"text": "ok"}, {"text": "never asked for"}],
}


def absent(name: str) -> tuple[str, str]:
    return f"{name} is not installed", "install it: parity upstream install 0.61.0"


def as_legacy(cassette: LoadedCassette, runtime: str) -> Observation:
    """The published core played by legacy."""
    assert runtime in ("upstream", "legacy")
    return replace(real_backend().run(cassette, "legacy"), runtime=runtime)


def breaks_down(cassette: LoadedCassette, runtime: str) -> Observation:
    return replace(as_legacy(cassette, runtime), broken=True, error="its process died")


def interrupts(cassette: LoadedCassette, runtime: str) -> Observation:
    raise KeyboardInterrupt


ABSENT = replace(real_backend(), check=absent)
PRESENT = replace(real_backend(), check=lambda name: None, run=as_legacy)


def invoke(*arguments: object, backend: Backend = ABSENT) -> Result:
    words = ["adopt", *map(str, arguments)]
    return CliRunner().invoke(parity, words, obj=backend, prog_name="parity")


def write(file: Path, document: dict[str, Any]) -> Path:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(f"# what differs\n{yaml.safe_dump(document, sort_keys=False)}")
    return file


def everything() -> dict[str, bytes]:
    return {str(file): file.read_bytes() for file in Path().rglob("*") if file.is_file()}


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A checkout with a corpus, and a finding."""
    monkeypatch.chdir(tmp_path)
    Path("cassettes/text").mkdir(parents=True)
    Path("cassettes/README.md").write_text(README)
    write(FOUND, FINDING)
    return tmp_path


def test_a_finding_is_moved_into_the_corpus(here: Path) -> None:
    result = invoke(FOUND, "--as", "text/usage", "--note", "usage of the last chunk")

    assert result.exit_code == 0, result.output
    adopted = load_cassette(Path("cassettes/text/usage.yaml"))
    assert adopted.note == "usage of the last chunk"
    assert adopted.unused == (1,)
    assert (adopted.provenance.kind, adopted.provenance.source) == (
        "shrunk",
        "shrunk from tools/batch",
    )
    assert not FOUND.exists()


def test_no_seed_of_this_grammar_is_kept(here: Path) -> None:
    invoke(FOUND, "--as", "text/usage")

    assert load_cassette(Path("cassettes/text/usage.yaml")).provenance.seed is None


def test_it_says_what_it_did_and_what_is_left(here: Path) -> None:
    lines = invoke(FOUND, "--as", "text/usage").stdout.splitlines()

    assert lines[:2] == [
        f"adopted: cassettes/text/usage.yaml, from {FOUND}",
        "legacy and adk: parity",
    ]
    assert lines[2].startswith("to do: upstream is not installed; install it: parity upstream")
    assert "parity baseline cassettes --runtime upstream" in lines[2]
    assert lines[3:] == ["to do: cassettes/README.md: `text` has 1 cassette now, the table says 3"]


def test_a_new_family_is_named_as_missing_from_the_readme(here: Path) -> None:
    output = invoke(FOUND, "--as", "usage/last").stdout

    assert "`usage` has 1 cassette now, the table has no row for it" in output


def test_where_the_table_is_right_nothing_is_left_to_do(here: Path) -> None:
    for name in ("one", "two"):
        Path(f"cassettes/text/{name}.yaml").write_text("")

    assert "README" not in invoke(FOUND, "--as", "text/usage").stdout


def test_the_published_core_is_observed_where_it_is_present(here: Path) -> None:
    result = invoke(FOUND, "--as", "text/usage", backend=PRESENT)

    assert result.exit_code == 0, result.output
    kept = read_baseline(Path("baselines/upstream"), "text/usage")
    assert kept is not None
    assert kept.observation.runtime == "upstream"
    assert "observed: baselines/upstream/text/usage.json" in result.stdout
    assert "upstream and legacy: parity" in result.stdout


def test_without_upstream_it_is_not_observed(here: Path) -> None:
    result = invoke(FOUND, "--as", "text/usage", "--no-upstream", backend=PRESENT)

    assert result.exit_code == 0
    assert not Path("baselines").exists()
    assert "to do: observe the published core: parity baseline" in result.stdout


def test_a_core_that_breaks_down_is_observed_later(here: Path) -> None:
    backend = replace(PRESENT, run=breaks_down)

    result = invoke(FOUND, "--as", "text/usage", backend=backend)

    assert result.exit_code == 0
    assert "the published core was not observed: upstream broke" in result.stdout
    assert Path("cassettes/text/usage.yaml").is_file()


def test_secrets_and_paths_of_this_machine_are_struck_out(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOME_API_KEY", SECRET)
    document = {
        **FINDING,
        "note": f"found in {here}/x with {SECRET}",
        "script": [{"send": f"look at {here}/a.txt, key {SECRET}"}],
        "files": {".env": "KEY=1", "a.txt": "alpha"},
        "session": {"model": "gemini-2.5-flash", "settings": {"maxAttempts": 2}},
    }

    result = invoke(write(FOUND, document), "--as", "text/usage")

    assert result.exit_code == 0, result.output
    text = Path("cassettes/text/usage.yaml").read_text()
    assert SECRET not in text
    assert str(here) not in text
    assert "look at <WS>/a.txt, key REDACTEDxxxx" in text
    assert ".env" not in text
    assert "left out: .env, which may hold secrets" in result.stderr
    assert "struck out: secrets or paths of this machine" in result.stderr


def test_one_on_which_the_runtimes_differ_is_not_adopted(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken(monkeypatch)
    before = everything()

    result = invoke(FOUND, "--as", "text/usage")

    assert result.exit_code == 1
    assert "legacy and adk are divergent in it; fix that first, or give --force" in result.output
    assert "adk emitted the fourth event (message(agent)), legacy did not" in result.output
    assert everything() == before


def test_force_adopts_one_on_which_the_runtimes_differ(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken(monkeypatch)

    result = invoke(FOUND, "--as", "text/usage", "--force")

    assert result.exit_code == 0
    assert "legacy and adk: divergent" in result.stdout


def broken(monkeypatch: pytest.MonkeyPatch) -> None:
    """Legacy emits no messages of the agent."""
    from runtimes.legacy.translate import StreamTranslator

    good: Callable[..., Any] = StreamTranslator.translate

    def lossy(self: Any, event: Any) -> Any:
        return (found for found in good(self, event) if found.type != "message")

    monkeypatch.setattr(StreamTranslator, "translate", lossy)


def test_one_of_which_nothing_can_be_said_is_not_adopted(here: Path) -> None:
    document = {**FINDING, "model": [{"hang": True}]}

    result = invoke(write(FOUND, document), "--as", "text/usage")

    assert result.exit_code == 3
    assert "legacy and adk are inconclusive in it" in result.output
    assert FOUND.is_file()


def test_a_cassette_that_is_there_is_not_written_over(here: Path) -> None:
    place = Path("cassettes/text/usage.yaml")
    place.write_text("mine")
    before = everything()

    refused = invoke(FOUND, "--as", "text/usage")
    assert refused.exit_code == 2
    assert "already exists; choose another name with --as, or give --force" in refused.output
    assert everything() == before

    assert invoke(FOUND, "--as", "text/usage", "--force").exit_code == 0
    assert load_cassette(place).name == "text/usage"


def test_one_that_starts_processes_needs_trust(here: Path) -> None:
    call = {"name": "run_shell_command", "args": {"command": "echo a"}}
    step = {"stream": [{"candidates": [{"content": {"parts": [{"functionCall": call}]}}]}]}
    write(FOUND, {**FINDING, "model": [step, {"text": "ok"}]})

    refused = invoke(FOUND, "--as", "tools/echo")
    assert refused.exit_code == 2
    assert "run_shell_command: echo a; read it, then give --trust" in refused.output
    assert FOUND.is_file()

    assert invoke(FOUND, "--as", "tools/echo", "--trust").exit_code == 0


def test_its_own_name_is_kept_where_none_is_given(here: Path) -> None:
    assert invoke(FOUND).exit_code == 0
    assert load_cassette(Path("cassettes/shrunk/2fa3272ca154.yaml")).name == FINDING["name"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["nowhere.yaml"], "does not exist"),
        ([".parity"], "is a folder; name one finding"),
        ([FOUND, "--as", "Usage"], "'Usage' is no name for a cassette of the corpus"),
        ([FOUND, "--as", "../x/y"], "leads out of its folder"),
        ([FOUND, "--as", "/x/y"], "is absolute"),
        ([FOUND, "--as", "text/http/../a"], "leads out of its folder"),
        ([FOUND, "--as", ""], "is no name"),
        (["bad.yaml"], "bad.yaml: "),
        (["cassettes/text/here.yaml"], "is already in the corpus"),
        ([REPOSITORY / "cassettes/http/stream_text.yaml"], "is recorded HTTP traffic"),
        ([FOUND, "--waivers", "none.toml"], "none.toml"),
    ],
)
def test_wrong_usage_is_said_in_one_line_and_changes_nothing(
    here: Path, arguments: list[Any], words: str
) -> None:
    Path("bad.yaml").write_text("cassette: [")
    write(Path("cassettes/text/here.yaml"), {**FINDING, "name": "text/here"})
    before = everything()

    result = invoke(*arguments)

    assert result.exit_code == 2, result.output
    assert words in result.output
    assert "Traceback" not in result.output
    assert everything() == before


def test_without_a_corpus_it_says_where_to_go(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(here / ".parity")

    result = invoke(Path("found", *FOUND.parts[2:]), "--as", "text/usage")

    assert result.exit_code == 2
    assert "no folder cassettes here; go to the checkout's root" in result.output


def test_an_interruption_loses_nothing(here: Path) -> None:
    before = everything()

    result = invoke(FOUND, "--as", "new/usage", backend=replace(PRESENT, run=interrupts))

    assert result.exit_code == 130
    assert everything() == before
    assert not Path("cassettes/new").exists()


def test_a_finding_that_cannot_be_removed_leaves_all_as_it_was(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = everything()

    def refuses(self: Path, missing_ok: bool = False) -> None:
        if self == FOUND:
            raise OSError(errno.EROFS, os.strerror(errno.EROFS), str(self))
        unlink(self, missing_ok=missing_ok)

    unlink = Path.unlink
    monkeypatch.setattr(Path, "unlink", refuses)
    result = invoke(FOUND, "--as", "text/usage")

    assert result.exit_code == 2
    assert "Read-only file system; make it writable; nothing was changed" in result.output
    assert everything() == before


def test_a_corpus_that_cannot_be_written_to_leaves_all_as_it_was(here: Path) -> None:
    Path("cassettes/odd").write_text("a file in the place of a family")
    before = everything()

    result = invoke(FOUND, "--as", "odd/usage")

    assert result.exit_code == 2
    assert "cassettes/odd/usage.yaml cannot be written: " in result.output
    assert everything() == before
