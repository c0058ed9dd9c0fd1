import gc
import os
import signal
import subprocess
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from harness.experiment.usage import MEASURABLE, Tree
from tests.processes import ends

pytestmark = pytest.mark.skipif(not MEASURABLE, reason="needs /proc")

HOLDS = "held = b'x' * (64 << 20); print('ready', flush=True); input()"
STARTS = f"""
import subprocess, sys
child = subprocess.Popen([sys.executable, "-c", {HOLDS!r}], start_new_session=True)
print(child.pid, flush=True)
child.wait()
"""
SPINS = """
import subprocess, sys, time
if sys.argv[1:]:
    subprocess.run([sys.executable, "-c", sys.argv[1]])
else:
    while time.process_time() < 0.3: pass
print("ready", flush=True)
input()
"""
SPIN = "import time\nwhile time.process_time() < 0.3: pass"


@contextmanager
def started(*words: str) -> Iterator[tuple[subprocess.Popen[str], list[str]]]:
    """A process, and the first line that it or a child of it writes."""
    command = [sys.executable, "-c", *words]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        try:
            yield process, [process.stdout.readline().strip()]
        finally:
            process.kill()


def test_memory_is_that_of_all_descendants() -> None:
    with started(STARTS) as (process, _):
        assert process.stdout is not None
        process.stdout.readline()
        tree = Tree(process.pid)

        with_child = tree.usage().memory_mib
        alone = Tree(process.pid, beside=[int(each) for each in children(process.pid)])

        assert with_child - alone.usage().memory_mib > 64
        tree.kill()


@pytest.mark.parametrize("by_a_child_that_has_ended", [(), (SPIN,)])
def test_cpu_time_is_kept_of_children_that_were_waited_for(
    by_a_child_that_has_ended: tuple[str, ...],
) -> None:
    with started(SPINS, *by_a_child_that_has_ended) as (process, _):
        assert Tree(process.pid).usage().cpu_s > 0.25


def test_everything_is_killed_also_a_session_whose_parent_is_gone() -> None:
    with started(STARTS) as (process, line):
        (child,) = line
        tree = Tree(process.pid)
        tree.usage()
        process.kill()
        process.wait()

        tree.kill()

        assert ends(child)


def test_an_announced_session_counts_though_it_was_never_seen_below_the_root() -> None:
    with started(HOLDS) as (root, _):
        leader = subprocess.run(
            ["setsid", "--wait", "sh", "-c", "sleep 60 >&- 2>&- & echo $$ $!"],
            stdout=subprocess.PIPE,
            text=True,
            check=True,
        )
        session, orphan = leader.stdout.split()
        tree = Tree(root.pid)
        tree.add_leader(int(session))

        tree.kill()

        assert ends(orphan)


def test_a_process_of_another_that_has_the_id_by_now_is_left_alone() -> None:
    with started(HOLDS) as (process, _):
        tree = Tree(process.pid)
        tree._seen[process.pid] -= 1
        tree._leaders.clear()

        tree.kill()

        assert not tree.alive
        assert process.poll() is None
        os.kill(process.pid, signal.SIGKILL)


def test_a_thread_that_ends_while_its_children_are_read_leaves_no_folder_open(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with started(HOLDS) as (process, _):
        tree = Tree(process.pid)
        tree.usage()
        read = Path.read_bytes

        def gone(path: Path) -> bytes:
            if path.name == "children":
                raise FileNotFoundError(path)
            return read(path)

        monkeypatch.setattr(Path, "read_bytes", gone)
        with warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter("always")
            tree.usage()
            gc.collect()
        monkeypatch.undo()

    assert not [each for each in seen if each.category is ResourceWarning]


def children(pid: int) -> list[str]:
    return Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
