"""A machine whose node and npm are small scripts: the seam of `runtimes.published`."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import pytest

_REPOSITORY = Path(__file__).parents[3]
# The prefix and the asked-for version out of npm's arguments, and a package in the making.
_HEAD = """\
#!/bin/sh
echo "$PATH|$*" >> "$0.calls"
PATH=/usr/bin:/bin
for word; do
  case "$word" in --prefix=*) prefix=${word#--prefix=};; esac
  asked=${word##*@}
done
package="$prefix/node_modules/@google/gemini-cli-core"
"""
INSTALLS = """\
mkdir -p "$package/dist"
printf '{"version": "%s", "engines": {"node": ">=20"}}' "$asked" > "$package/package.json"
"""
NEVER_ENDS = """\
mkdir -p "$package"
printf '{"version": "%s"}' "$asked" > "$package/package.json"
echo $$ > "$STARTED"
exec sleep 600
"""
"""Writes its process id to the pipe `$STARTED` half way, then hangs."""


@dataclass
class Machine:
    """`bin` is the whole `PATH`, `cache` what `$PARITY_CACHE_HOME` names."""

    bin: Path
    cache: Path

    @classmethod
    def make(cls, folder: Path, monkeypatch: pytest.MonkeyPatch) -> "Machine":
        machine = cls(folder / "bin", folder / "cache")
        machine.bin.mkdir()
        monkeypatch.setenv("PATH", str(machine.bin))
        monkeypatch.setenv("PARITY_CACHE_HOME", str(machine.cache))
        monkeypatch.delenv("PARITY_NODE", raising=False)
        machine.node()
        machine.npm(INSTALLS)
        return machine

    @property
    def upstream(self) -> Path:
        return self.cache / "upstream"

    @property
    def npm_calls(self) -> list[str]:
        calls = self.bin / "npm.calls"
        return calls.read_text().splitlines() if calls.exists() else []

    def node(self, says: str = "v20.1.0", *, name: str = "node") -> Path:
        return self.script(name, f"#!/bin/sh\necho x >> '{self.bin}/node.calls'\necho '{says}'\n")

    def npm(self, body: str) -> Path:
        return self.script("npm", _HEAD + body)

    def script(self, name: str, text: str) -> Path:
        file = self.bin / name
        file.write_text(text)
        file.chmod(0o755)
        return file

    @contextmanager
    def half_way(self, pipe: Path, *python: str) -> Iterator[tuple[subprocess.Popen[str], int]]:
        """Python with these arguments and the process id of its npm, `NEVER_ENDS`, once it hangs.

        Neither outlives the block, whatever the test finds.
        """
        with subprocess.Popen(
            [sys.executable, *python],
            env={**os.environ, "PYTHONPATH": str(_REPOSITORY)},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        ) as child:
            npm = int(pipe.read_text())
            try:
                yield child, npm
            finally:
                child.kill()
                with suppress(ProcessLookupError):
                    os.kill(npm, signal.SIGKILL)

    def started(self, monkeypatch: pytest.MonkeyPatch) -> Path:
        """The pipe that `NEVER_ENDS` writes to."""
        pipe = self.bin / "started"
        os.mkfifo(pipe)
        monkeypatch.setenv("STARTED", str(pipe))
        return pipe

    def has(self, version: str, *, says: str | None = None) -> Path:
        """Put an installed version there whose package.json says version `says`."""
        folder = self.upstream / version
        package = folder / "node_modules/@google/gemini-cli-core"
        package.mkdir(parents=True)
        about = {"version": says or version, "engines": {"node": ">=20"}}
        (package / "package.json").write_text(json.dumps(about))
        return folder

    def entries(self) -> list[str]:
        """What is in the folder of all versions, but for the lock."""
        if not self.upstream.exists():
            return []
        return sorted(one.name for one in self.upstream.iterdir() if one.name != ".lock")
