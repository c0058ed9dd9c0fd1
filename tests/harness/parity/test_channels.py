"""Each channel is one module and one line of a list."""

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

import harness
from harness.parity.channels import CHANNELS, channel_of
from harness.parity.divergence import ChannelName
from harness.timeline.model import MomentKind

_LAST: Final = '    COST = "cost"\n'
_LINE: Final = '    VERSIONS = "versions"\n'
_FILE: Final = '''
"""The versions of the packages."""

from typing import Final

from harness.parity.channel import Channel
from harness.parity.divergence import ChannelName


class _Versions(Channel):
    name = ChannelName.VERSIONS
    about = "the versions of what ran"
    did = "ran"
    item = "version"
    cannot = "One run has one version of each package."

    def items(self, seen):
        return [{"name": name, "version": each} for name, each in sorted(seen.versions.items())]


CHANNEL: Final = _Versions()
'''
_USE: Final = """
import datetime
import pathlib
import sys
from dataclasses import replace

from harness.explain import explain, explained
from harness.parity.compare import compare, compare_observations
from harness.parity.verdict import CaseResult
from harness.parity.waivers import Waivers, load_waivers
from harness.timeline.model import unpack
from tests.harness.samples import observation

class Facts:
    name = "greeting/plain"
    unused = frozenset()

today = datetime.date(2026, 1, 1)
control = replace(observation(), versions={"httpx": "1.0"})
candidate = replace(observation(), versions={"httpx": "2.0"})
assert compare(control, control, Facts, Waivers(as_of=today)).verdict == "parity"

found = compare(control, candidate, Facts, Waivers(as_of=today))
print(found.divergences[0].place)
print(*explain(found, "one", "other"), sep="\\n")
print(explained(found, "one", "other").rule)
again = CaseResult.from_json(found.to_json())
assert again == found
print(*[(row.kind.value, row.control.line) for row in unpack(again.timelines).rows[-1:]])
file = pathlib.Path(sys.argv[1])
waived = compare(control, candidate, Facts, load_waivers(file, as_of=today))
print(waived.verdict.value, dict(waived.waived))
"""
_WAIVERS: Final = """
format = 1

[[waiver]]
id = "newer"
scenario = "*"
channel = "versions"
path = "version"
control = "1.0"
candidate = "2.0"
impact = "none"
reason = "it is newer"
owner = "release"
expires = 2026-12-31
max_count = 1
"""


def test_adding_a_channel_is_adding_one_file_and_one_line(tmp_path: Path) -> None:
    package = tmp_path / "harness"
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(Path(harness.__file__).parent, package, ignore=ignored)
    names = package / "parity" / "divergence.py"
    assert names.read_text().count(_LAST) == 1
    names.write_text(names.read_text().replace(_LAST, _LAST + _LINE))
    (package / "parity" / "channels" / "versions.py").write_text(_FILE)
    (tmp_path / "waivers.toml").write_text(_WAIVERS)
    root = Path(__file__).parents[3]

    done = subprocess.run(
        [sys.executable, "-c", _USE, str(tmp_path / "waivers.toml")],
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path), str(root)])},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.stderr == ""
    assert done.stdout.splitlines() == [
        "versions[0] version: version",
        "versions[0] version: version (changed)",
        (
            "1. The first difference is in the versions of what ran (channel versions): "
            "one and other differ in the first version."
        ),
        (
            "2. Both runs are equal up to this point. Last common step: used 2 model calls, "
            "10 tokens in, 2 out, 4 contents sent."
        ),
        '3. one had {"name": "httpx", "version": "1.0"}.',
        '4. other had {"name": "httpx", "version": "2.0"}.',
        '5. At version one has "1.0", other has "2.0".',
        "6. One run has one version of each package.",
        "seam: unknown",
        "versions-alone",
        """('item', 'had {"name": "httpx", "version": "1.0"}')""",
        "parity {0: 'newer'}",
    ]


@pytest.mark.parametrize("name", ChannelName)
def test_every_channel_has_its_words(name: ChannelName) -> None:
    channel = channel_of(name)
    words = (channel.about, channel.did, channel.item, channel.cannot)

    assert channel.name is name
    assert all(word.strip() == word and word for word in words)
    assert channel.kind is not MomentKind.ITEM


def test_channels_come_in_the_order_of_their_names() -> None:
    assert [channel.name for channel in CHANNELS] == list(ChannelName)
