"""Runs npm to install one package into one folder, and explains its failures."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from runtimes.published.problems import UpstreamUnavailable
from runtimes.published.versions import PACKAGE
from services.redaction import redacted

__all__ = ["END_S", "npm_install"]

END_S: Final = 5.0
"""How long npm may take to end before it is killed."""

# Optional packages are included, because the core takes its pseudo-terminal from one. No package
# that the core needs has an install script.
_FLAGS: Final = (
    "--no-save",
    "--omit=dev",
    "--ignore-scripts",
    "--no-audit",
    "--no-fund",
    "--no-update-notifier",
    "--loglevel=error",
)
_ENDING: Final = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_OFFLINE: Final = frozenset(
    {
        "EAI_AGAIN",
        "ECONNREFUSED",
        "ECONNRESET",
        "EHOSTUNREACH",
        "ENETUNREACH",
        "ENOTCACHED",
        "ENOTFOUND",
        "ERR_SOCKET_TIMEOUT",
        "ETIMEDOUT",
    }
)
_UNKNOWN: Final = frozenset({"ETARGET", "E404"})


def npm_install(npm: Path, node: Path, spec: str, folder: Path) -> None:
    """Have npm install `PACKAGE@spec` into `folder`, with the user's own npm configuration.

    An interrupt ends npm before it ends this function.

    Raises:
        UpstreamUnavailable: npm cannot be started or failed; with the end of its output.
    """
    # A package.json of its own keeps npm from taking a folder further up for the project.
    (folder / "package.json").write_text('{"private": true}\n', "utf-8")
    command = [str(npm), "install", f"--prefix={folder}", *_FLAGS, f"{PACKAGE}@{spec}"]
    # npm starts `node` by name: the one that was checked must come first.
    path = os.pathsep.join(filter(None, [str(node.parent), os.environ.get("PATH")]))
    with _running(command, folder, {**os.environ, "PATH": path}) as child:
        _, said = child.communicate()
    if child.returncode != 0:
        raise _failure(spec, child.returncode, redacted(said.decode(errors="replace")))


@contextmanager
def _running(
    command: Sequence[str], folder: Path, environment: Mapping[str, str]
) -> Iterator[subprocess.Popen[bytes]]:
    child: subprocess.Popen[bytes] | None = None
    try:
        # An interrupt while npm starts would leave a process that this function does not know yet.
        with _signals_held_back():
            child = _begun(command, folder, environment)
        yield child
    finally:
        if child is not None:
            if child.poll() is None:
                _end(child)
            if child.stderr is not None:
                child.stderr.close()


def _begun(
    command: Sequence[str], folder: Path, environment: Mapping[str, str]
) -> subprocess.Popen[bytes]:
    try:
        return subprocess.Popen(
            command,
            cwd=folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
    except OSError as error:
        raise UpstreamUnavailable(
            f"{command[0]} cannot be run: {error.strerror}", "install npm again"
        ) from error


@contextmanager
def _signals_held_back() -> Iterator[None]:
    """Delay signals that Python code handles until the block is left."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    delayed: list[int] = []
    handlers = {number: signal.getsignal(number) for number in _ENDING}
    held = {number: handler for number, handler in handlers.items() if callable(handler)}
    for number in held:
        signal.signal(number, lambda number, frame: delayed.append(number))
    try:
        yield
    finally:
        for number, handler in held.items():
            signal.signal(number, handler)
        for late in delayed:
            signal.raise_signal(late)


def _end(child: subprocess.Popen[bytes]) -> None:
    """End npm and what it started: some installations of npm are a script around it."""
    _signal(child, signal.SIGTERM)
    with suppress(subprocess.TimeoutExpired):
        child.wait(END_S)
    _signal(child, signal.SIGKILL)
    child.wait()


def _signal(child: subprocess.Popen[bytes], number: signal.Signals) -> None:
    # Both errors mean that the whole group has ended; macOS raises the second one.
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(child.pid, number)


def _failure(spec: str, code: int, said: str) -> UpstreamUnavailable:
    match = re.search(r"^npm (?:error|ERR!) code (\S+)", said, re.MULTILINE)
    reason = match[1] if match else ""
    problem = f"npm could not install {PACKAGE}@{spec}"
    if reason in _UNKNOWN:
        problem = f"npm knows no {PACKAGE}@{spec}"
        mend = f"`npm view {PACKAGE} versions` lists those there are"
    elif reason in _OFFLINE:
        mend = "check the network and npm's registry and proxy settings (`npm config list`)"
    elif reason == "ENOSPC":
        mend = "make room on the disk (400 MB), or name another place with PARITY_CACHE_HOME"
    elif code < 0:
        problem = f"{problem}: it was ended by signal {-code}"
        mend = "run the command again"
    else:
        mend = "mend what npm names and run the command again"
    words = _last_words(said)
    return UpstreamUnavailable(problem, f"{mend}{f'. npm said:{words}' if words else ''}")


def _last_words(said: str) -> str:
    """The informative lines of npm's output, indented; at most eight."""
    lines = [line.rstrip() for line in said.splitlines()]
    informative = [
        line for line in lines if not re.fullmatch(r"(npm (error|ERR!))?(\s+at .*|\s*)", line)
    ]
    if len(informative) > 8:  # the first lines say what failed, the last ones where
        informative = [*informative[:4], "…", *informative[-4:]]
    return "".join(f"\n  {line[:300]}" for line in informative)
