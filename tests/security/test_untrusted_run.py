"""`parity run` over untrusted cassettes, with a witness in each of its processes.

The witness is a `sitecustomize` module that each Python process of the run loads at its start. It
records starts of processes and connections before the project's own code is there.
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from tests.security.breakouts import Target, breakouts

ROOT = Path(__file__).parents[2]
WITNESS = """
import json, os, sys

def _hook(event, arguments):
    if event in EVENTS:
        line = json.dumps([event, [repr(each)[:500] for each in arguments]]) + chr(10)
        os.write(OUT, line.encode())

EVENTS = {"subprocess.Popen", "os.exec", "os.posix_spawn", "os.system", "socket.connect",
          "socket.getaddrinfo", "socket.sendto"}
OUT = os.open(os.environ["WITNESS_FILE"], os.O_WRONLY | os.O_APPEND | os.O_CREAT)
sys.addaudithook(_hook)
"""
OWN = ("guard_process.py", "git", "/sbin/ldconfig", "gcc", "cc", "/ld", "objdump")
"""What the harness starts itself, and what `ctypes` asks for the place of a library."""
SOME = (
    "auth_token_json",
    "card_inline_JSONRPC",
    "glob_pattern_absolute",
    "hooks_BeforeModel",
    "import_absolute",
    "key_hex",
    "override_start_shell",
    "policyPaths_root",
    "server_connect_httpUrl",
    "session_calls_any",
    "shell",
    "shell_after_nbsp",
    "web_public_url_true",
)
HARMLESS = {"cassette": 1, "name": "breakout/harmless", "model": [{"text": "done"}]} | {
    "session": {"model": "gemini-2.5-flash"},
    "script": [{"send": "go"}],
}


@pytest.mark.parametrize("jobs", ["1", "2"])
@pytest.mark.sampled(2)
def test_no_process_of_a_run_starts_or_connects(jobs: str, tmp_path: Path) -> None:
    canary = tmp_path / "elsewhere" / "canary.txt"
    canary.parent.mkdir()
    canary.write_text("x")
    (tmp_path / "witness").mkdir()
    (tmp_path / "witness" / "sitecustomize.py").write_text(WITNESS)
    seen = tmp_path / "seen.jsonl"
    corpus = tmp_path / "corpus"
    with socket.create_server(("127.0.0.1", 0)) as server:
        url = f"http://127.0.0.1:{server.getsockname()[1]}"
        target = Target(marker=tmp_path / "marker", canary=canary, url=url)
        made = breakouts(target)
        for document in (*(made[f"breakout/{name}"] for name in SOME), HARMLESS):
            file = corpus / f"{document['name']}.yaml"
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(yaml.safe_dump(document))
        path = os.pathsep.join([str(tmp_path / "witness"), str(ROOT)])
        words = [sys.executable, "-m", "harness.cli", "run", str(corpus), "-n", jobs, "--no-keep"]
        done = subprocess.run(
            [*words, "--json", str(tmp_path / "report.json")],
            cwd=tmp_path,
            env={**os.environ, "PYTHONPATH": path, "WITNESS_FILE": str(seen)},
            capture_output=True,
            text=True,
            check=False,
        )

    assert done.returncode == 3, done.stdout + done.stderr
    assert not target.marker.exists()
    assert list(canary.parent.iterdir()) == [canary]
    assert [line for line in _witnessed(seen) if not _is_own(line)] == []
    report = json.loads((tmp_path / "report.json").read_text())
    verdicts = {case["cassette"]: case["verdict"] for case in report["cases"]}
    assert verdicts.pop("breakout/harmless") == "parity"
    assert len(verdicts) == len(SOME)
    assert "divergent" not in verdicts.values()


def _witnessed(file: Path) -> list[tuple[str, list[str]]]:
    lines = file.read_text().splitlines() if file.exists() else []
    assert lines, "the witness was not loaded"
    return [(event, arguments) for event, arguments in map(json.loads, lines)]


def _is_own(line: tuple[str, list[str]]) -> bool:
    event, arguments = line
    if event == "socket.connect":  # the server that workers are forked from listens on a file
        return "family=1" in arguments[0] or "AddressFamily.AF_UNIX" in arguments[0]
    return event == "subprocess.Popen" and any(word in str(arguments[:2]) for word in OWN)
