import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from harness.cli import parity
from harness.experiment.backend import real_backend
from tests.harness.samples import BACKEND, write_corpus

REPOSITORY = Path(__file__).parents[3]
CORPUS = REPOSITORY / "cassettes"


def invoke(*arguments: object, real: bool = False) -> Result:
    words = [str(argument) for argument in arguments]
    backend = real_backend() if real else BACKEND
    return CliRunner().invoke(parity, words, obj=backend, prog_name="parity")


def files(folder: Path) -> dict[str, bytes]:
    found = [path for path in folder.rglob("*") if path.is_file()]
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in found}


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    return write_corpus(tmp_path / "in", a__1="plain", a__2="plain", b__1="plain")


@pytest.fixture
def kept(tmp_path: Path, corpus: Path) -> Path:
    """Baselines of legacy for `corpus`."""
    out = tmp_path / "kept"
    result = invoke("baseline", corpus, "--runtime", "legacy", "--out", out)
    assert result.exit_code == 0, result.output
    return out


def check(corpus: Path, kept: Path, *more: object) -> Result:
    return invoke("baseline", corpus, "--runtime", "legacy", "--out", kept, "--check", *more)


def tamper(file: Path) -> None:
    text = file.read_text()
    file.write_text(text.replace("It says hello.", "It says bye.", 1))
    assert file.read_text() != text


def test_one_file_per_cassette_is_written(corpus: Path, kept: Path) -> None:
    assert sorted(files(kept)) == ["a/1.json", "a/2.json", "b/1.json"]
    document = json.loads((kept / "a" / "1.json").read_text())
    assert [document[key] for key in ("format", "name", "runtime")] == [2, "a/1", "legacy"]


def test_the_last_line_says_how_many_and_where(tmp_path: Path, corpus: Path) -> None:
    result = invoke("baseline", corpus, "--runtime", "legacy", "--out", tmp_path / "o")

    last = result.output.splitlines()[-1]
    assert last == f"written: 3 baselines of legacy in {tmp_path / 'o'}"


@pytest.mark.slow
def test_two_workers_write_what_one_writes(tmp_path: Path) -> None:
    cassettes = [CORPUS / "text", CORPUS / "finish"]
    for jobs in (1, 2):
        out = tmp_path / str(jobs)
        arguments = ("baseline", *cassettes, "--runtime", "legacy", "--out", out, "-n", jobs)
        assert invoke(*arguments, real=True).exit_code == 0

    assert files(tmp_path / "1") == files(tmp_path / "2")
    assert len(files(tmp_path / "1")) > 20


@pytest.mark.slow
def test_a_baseline_of_legacy_is_parity_with_legacy_and_with_adk(tmp_path: Path) -> None:
    paths = [CORPUS / "http", CORPUS / "finish", CORPUS / "invalid_stream"]
    arguments = ("baseline", *paths, "--runtime", "legacy", "--out", tmp_path)
    assert invoke(*arguments, real=True).exit_code == 0
    side = f"baseline:{tmp_path}"

    for sides in (
        ["--control", side, "--candidate", "legacy"],
        ["--control", side, "--candidate", "adk"],
        ["--control", "adk", "--candidate", side],
        ["--control", side, "--candidate", side, "--repeat", "2"],
    ):
        result = invoke("run", *paths, *sides, real=True)
        assert result.exit_code == 0, result.output


def test_workers_do_not_take_a_baseline_for_a_runtime(corpus: Path, kept: Path) -> None:
    result = invoke("run", corpus, "--control", f"baseline:{kept}", "-n", 2)

    assert result.exit_code == 0, result.output
    assert result.output.endswith("adk over 3 cases\n")


def test_a_changed_file_is_divergent_and_named(corpus: Path, kept: Path) -> None:
    file = kept / "a" / "2.json"
    tamper(file)

    result = invoke("run", corpus, "--control", f"baseline:{kept}", "--candidate", "legacy")

    assert result.exit_code == 1
    assert "first divergence: a/2" in result.output
    assert "events[3] message(agent): content[0].text (changed)" in result.output
    assert "legacy:" in result.output
    assert f"--control baseline:{kept} --candidate legacy" in result.output


def test_a_candidate_that_differs_from_the_baseline_is_divergent(tmp_path: Path) -> None:
    corpus = write_corpus(tmp_path / "in", a__1="loses usage")
    invoke("baseline", corpus, "--runtime", "legacy", "--out", tmp_path / "b")

    result = invoke("run", corpus, "--control", f"baseline:{tmp_path / 'b'}")

    assert result.exit_code == 1
    assert "events[4] usage (missing)" in result.output


def test_the_report_says_what_made_the_baseline(tmp_path: Path, corpus: Path, kept: Path) -> None:
    side, report = f"baseline:{kept}", tmp_path / "r.json"

    result = invoke("run", corpus, "--control", side, "--json", report)

    shown = "3 of legacy with parity 0.1.0 (digest "
    assert result.output.startswith(f"{side}: {shown}")
    assert json.loads(report.read_text())["versions"][side].startswith(shown)


def test_a_run_is_not_resumed_over_other_baselines(
    tmp_path: Path, corpus: Path, kept: Path
) -> None:
    arguments = ("run", corpus, "--control", f"baseline:{kept}", "--journal", tmp_path / "j")
    assert invoke(*arguments).exit_code == 0
    tamper(kept / "a" / "2.json")

    result = invoke(*arguments, "--resume")

    assert result.exit_code == 2
    assert "belongs to another run: baseline:" in result.output


def test_a_case_without_a_baseline_is_inconclusive(corpus: Path, kept: Path) -> None:
    (kept / "b" / "1.json").unlink()

    result = invoke("run", corpus, "--control", f"baseline:{kept}", "--candidate", "legacy")

    assert result.exit_code == 3
    cassette = corpus / "b" / "1.yaml"
    mend = f"make it with `parity baseline {cassette} --runtime NAME --out {kept}`"
    assert f"inconclusive: b/1: no baseline of b/1 in {kept}; {mend}" in result.output


def test_a_baseline_of_another_version_of_the_cassette_is_inconclusive(
    corpus: Path, kept: Path
) -> None:
    write_corpus(corpus, b__1="plain, but other")

    result = invoke("run", corpus, "--control", f"baseline:{kept}", "--candidate", "legacy")

    assert result.exit_code == 3
    assert "is of another version of this cassette; observe it anew with" in result.output
    assert f"--runtime legacy --out {kept}`" in result.output


def test_nothing_is_run_for_a_case_without_a_baseline(tmp_path: Path, kept: Path) -> None:
    corpus = write_corpus(tmp_path / "other", c__1="interrupts")

    assert (
        invoke("run", corpus, "--control", "adk", "--candidate", f"baseline:{kept}").exit_code == 3
    )


def test_a_baseline_that_cannot_be_read_does_not_stop_the_others(corpus: Path, kept: Path) -> None:
    (kept / "a" / "1.json").write_text('{"format": 1}')
    tamper(kept / "b" / "1.json")

    result = invoke("run", corpus, "--control", f"baseline:{kept}", "--candidate", "legacy")

    assert result.exit_code == 2
    file = kept / "a" / "1.json"
    assert f"not loaded: baseline {file}: format: is 1; this build reads 2" in result.output
    assert "first divergence: b/1" in result.output
    assert "Traceback" not in result.output


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["run", "{corpus}", "--control", "baseline:{gone}"], "there is no folder"),
        (["run", "{corpus}", "--candidate", "baseline:"], "there is no folder"),
        (["run", "{corpus}", "--candidate", "baselines:x"], "unknown runtime 'baselines:x'"),
        (["trace", "{corpus}", "--runtime", "baseline:{corpus}"], "cannot be run; name a runtime"),
        (["baseline", "{corpus}", "--runtime", "baseline:x", "--out", "{gone}"], "cannot be run"),
        (["baseline", "{corpus}", "--runtime", "x", "--out", "{gone}"], "known: adk, legacy"),
        (["baseline", "{corpus}", "--runtime", "adk"], "Missing option '--out'"),
        (["baseline", "{corpus}", "--out", "{gone}"], "Missing option '--runtime'"),
        (
            ["baseline", "{corpus}", "--runtime", "adk", "--out", "{corpus}/a/1.yaml/x"],
            "choose another place with --out",
        ),
        (
            ["baseline", "{corpus}", "--runtime", "adk", "--out", "{gone}", "--check"],
            "gone; create it: parity baseline",
        ),
        (
            ["baseline", "{corpus}", "--runtime", "adk", "--out", "{corpus}", "--check", "--prune"],
            "give one of them",
        ),
        (
            ["baseline", "{corpus}", "--runtime", "adk", "--out", "{out}", "--prune", "-k", "a"],
            "deleted ones cannot be determined",
        ),
        (
            ["baseline", "{corpus}/a/1.yaml", "--runtime", "adk", "--out", "{out}", "--prune"],
            "deleted ones cannot be determined",
        ),
    ],
)
def test_wrong_usage_is_one_clear_message_before_anything_runs(
    tmp_path: Path, corpus: Path, arguments: list[str], words: str
) -> None:
    write_corpus(corpus, a__1="interrupts")
    places = {"corpus": corpus, "gone": tmp_path / "gone", "out": tmp_path / "out"}

    result = invoke(*(argument.format(**places) for argument in arguments))

    assert result.exit_code == 2
    assert words in result.output
    assert "Traceback" not in result.output


@pytest.mark.parametrize(
    ("text", "code", "words"),
    [
        ("takes for ever", 3, "not observed: a/2: legacy could not go on by itself"),
        ("crashes", 3, "not observed: a/2: the harness failed (RuntimeError: no such wheel)"),
        ("gives up", 3, "not observed: a/2: a/2: the disk is full"),
        ("shell", 3, "give --trust"),
        ("broken", 2, "not loaded: "),
    ],
)
def test_what_was_not_observed_is_listed_and_not_written(
    tmp_path: Path, text: str, code: int, words: str
) -> None:
    corpus = write_corpus(tmp_path / "in", a__1="plain", a__2=text, a__3="plain")

    result = invoke("baseline", corpus, "--runtime", "legacy", "--out", tmp_path / "o")

    assert result.exit_code == code
    assert words in result.output
    assert sorted(files(tmp_path / "o")) == ["a/1.json", "a/3.json"]


def test_that_a_run_hangs_in_virtual_time_is_kept_like_anything_else(tmp_path: Path) -> None:
    corpus = write_corpus(tmp_path / "in", a__1="stalls")

    result = invoke("baseline", corpus, "--runtime", "legacy", "--out", tmp_path / "o")

    assert result.exit_code == 0
    assert list(files(tmp_path / "o")) == ["a/1.json"]


def test_a_worker_that_dies_costs_its_own_case(tmp_path: Path) -> None:
    corpus = write_corpus(tmp_path / "in", a__1="plain", a__2="kills its worker", a__3="plain")
    arguments = ("baseline", corpus, "--runtime", "legacy", "--out", tmp_path / "o", "-n", 2)

    result = invoke(*arguments)

    assert result.exit_code == 3
    assert "not observed: a/2: its worker process died" in result.output
    assert sorted(files(tmp_path / "o")) == ["a/1.json", "a/3.json"]


def test_fresh_baselines_pass_the_check(corpus: Path, kept: Path) -> None:
    before = files(kept)

    result = check(corpus, kept)

    assert result.exit_code == 0
    assert result.output.splitlines()[-1] == f"fresh: 3 baselines of legacy in {kept}"
    assert files(kept) == before


def test_a_stale_baseline_is_named_with_the_first_place_and_the_command(
    corpus: Path, kept: Path
) -> None:
    tamper(kept / "a" / "2.json")
    before = files(kept)

    result = check(corpus, kept, "--trust")

    assert result.exit_code == 1
    lines = result.output.splitlines()
    assert lines[0] == "stale: a/2: events[3] message(agent): content[0].text (changed)"
    assert lines[1].startswith("  1. The first difference is in the events of the client")
    shown = "\n".join(lines)
    assert "stored" in shown
    assert "It says bye." in shown
    assert "It says hello." in shown
    refresh = f"parity baseline {corpus} --runtime legacy --out {kept} --trust"
    assert lines[-1] == f"refresh with: {refresh}"
    assert files(kept) == before


def test_missing_superfluous_and_unreadable_baselines_are_named(corpus: Path, kept: Path) -> None:
    (corpus / "a" / "1.yaml").unlink()
    (kept / "a" / "2.json").unlink()
    (kept / "b" / "1.json").write_text("[")

    result = check(corpus, kept)

    assert result.exit_code == 1
    assert "superfluous: a/1: its cassette was deleted" in result.output
    assert "stale: a/2: is missing" in result.output
    assert f"stale: b/1: baseline {kept / 'b' / '1.json'}: " in result.output
    assert result.output.splitlines()[-1].endswith(f"--out {kept} --prune")


def test_other_cassettes_and_other_runtimes_are_stale(corpus: Path, kept: Path) -> None:
    write_corpus(corpus, b__1="plain, but other")

    assert "stale: b/1: belongs to another version of the cassette" in check(corpus, kept).output
    result = invoke("baseline", corpus, "--runtime", "adk", "--out", kept, "--check")
    assert "stale: a/1: was made of legacy, not of adk" in result.output
    assert result.exit_code == 1


def test_other_versions_that_did_the_same_are_only_remarked(corpus: Path, kept: Path) -> None:
    file = kept / "a" / "1.json"
    file.write_text(file.read_text().replace('"parity": "0.1.0"', '"parity": "0.0.9"'))

    result = check(corpus, kept)

    assert result.exit_code == 0
    assert "remark: a/1: made with parity 0.0.9, now 0.1.0" in result.output


def test_part_of_the_cassettes_makes_no_baseline_superfluous(corpus: Path, kept: Path) -> None:
    assert check(corpus, kept, "-k", "b").exit_code == 0
    (corpus / "a" / "1.yaml").unlink()
    assert check(corpus, kept, "-k", "not 1").exit_code == 0
    assert check(corpus, kept).exit_code == 1


@pytest.mark.slow
def test_a_family_of_a_corpus_makes_no_baseline_superfluous(tmp_path: Path) -> None:
    arguments = ("--runtime", "legacy", "--out", tmp_path)
    invoke("baseline", CORPUS / "finish", CORPUS / "limits", *arguments, real=True)

    result = invoke("baseline", CORPUS / "finish", *arguments, "--check", real=True)

    assert result.exit_code == 0, result.output
    assert "superfluous" not in result.output


def test_a_check_of_what_cannot_be_observed_is_no_pass(corpus: Path, kept: Path) -> None:
    write_corpus(corpus, b__1="crashes")
    assert check(corpus, kept).exit_code == 3

    write_corpus(corpus, a__2="broken")
    assert check(corpus, kept).exit_code == 2


def test_baselines_of_cassettes_that_are_gone_are_removed_only_when_asked(
    corpus: Path, kept: Path
) -> None:
    (corpus / "a" / "1.yaml").unlink()
    (kept / "notes.json").write_text("{}")
    arguments = ("baseline", corpus, "--runtime", "legacy", "--out", kept)

    shown = invoke(*arguments)
    assert "1 baseline of deleted cassettes; remove with --prune" in shown.output
    assert (kept / "a" / "1.json").exists()

    pruned = invoke(*arguments, "--prune")
    assert "removed: a/1" in pruned.output
    assert sorted(files(kept)) == ["a/2.json", "b/1.json", "notes.json"]


def test_an_interrupt_keeps_what_is_written_whole(tmp_path: Path) -> None:
    corpus = write_corpus(tmp_path / "in", a__1="plain", a__2="interrupts", a__3="plain")
    out = tmp_path / "o"

    result = invoke("baseline", corpus, "--runtime", "legacy", "--out", out)

    assert result.exit_code == 130
    assert "interrupted: the baselines written so far are complete" in result.output
    assert sorted(files(out)) == ["a/1.json"]
    assert check(corpus, out, "-k", "1").exit_code == 0
    assert "nothing was written" in check(corpus, out).output


@pytest.mark.slow
def test_ctrl_c_ends_the_workers(tmp_path: Path) -> None:
    meeting = tmp_path / "meeting"
    os.mkfifo(meeting)
    corpus = write_corpus(tmp_path / "in", a__1="plain", a__2=f"waits at {meeting}")
    (tmp_path / "start.py").write_text(
        "from harness.cli import parity\n"
        "from tests.harness.samples import BACKEND\n"
        "if __name__ == '__main__':\n"
        "    parity(obj=BACKEND)\n"
    )
    words = [
        "baseline",
        str(corpus),
        "--runtime",
        "legacy",
        "--out",
        str(tmp_path / "o"),
        "-n",
        "2",
    ]
    with subprocess.Popen(
        [sys.executable, tmp_path / "start.py", *words],
        env={**os.environ, "PYTHONPATH": str(REPOSITORY)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as process:
        assert meeting.read_text() == "waiting"
        os.killpg(process.pid, signal.SIGINT)
        _, errors = process.communicate()

    assert process.returncode == 130, errors
    assert "Traceback" not in errors
    assert meeting.with_suffix(".unwound").exists()
    assert "a/2.json" not in files(tmp_path / "o")
    assert not [name for name in files(tmp_path / "o") if name.endswith(".part")]


def test_a_check_of_some_runs_only_those(corpus: Path, kept: Path) -> None:
    result = check(corpus, kept, "--most", 1, "--seed", 4)
    assert result.exit_code == 0, result.output
    assert "fresh: 1 baseline of legacy" in result.stdout
    assert "2 more match the version of their cassettes" in result.stdout


def test_which_some_hangs_on_the_seed(corpus: Path, kept: Path) -> None:
    for name in "a/1", "a/2", "b/1":
        tamper(kept / f"{name}.json")
    found = set()
    for seed in range(8):
        result = check(corpus, kept, "--most", 1, "--seed", seed)
        assert result.exit_code == 1
        found |= set(re.findall(r"^stale: (\S+):", result.stdout, re.MULTILINE))
    assert found == {"a/1", "a/2", "b/1"}


def test_a_check_of_some_names_every_baseline_that_is_of_another_cassette(
    corpus: Path, kept: Path
) -> None:
    for file in corpus.rglob("*.yaml"):
        file.write_text(f"{file.read_text()}\n# another\n")
    (kept / "b" / "1.json").unlink()
    result = check(corpus, kept, "--most", 1)
    assert result.exit_code == 1
    assert result.stdout.count("belongs to another version of the cassette") == 2
    assert "stale: b/1: is missing" in result.stdout


def test_most_is_for_checks(corpus: Path, tmp_path: Path) -> None:
    result = invoke(
        "baseline", corpus, "--runtime", "legacy", "--out", tmp_path / "out", "--most", 3
    )
    assert result.exit_code == 2
    assert "add --check" in result.output
