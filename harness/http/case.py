"""`HttpCase`: recorded HTTP traffic as a case of `parity run` and `parity trace`.

The user's side comes from the recorded requests, the model's from the recorded answers, which the
real google-genai client reads as it would read the network's.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Final

from harness.cassette.find import CassetteFile
from harness.cassette.format import Cassette
from harness.cassette.load import build_cassette, load_cassette
from harness.cassette.variants import as_variant, variant_of
from harness.errors import CassetteFormatError
from services.clock import VirtualClock
from services.model.replay.matching import ObservedRequest
from services.regular_files import open_regular

if TYPE_CHECKING:  # vcrpy and httpx take a tenth of a second, which only recordings should cost
    from harness.http.exchanges import HttpRecording
    from harness.http.replay import HttpReplayedGenerator

__all__ = ["HttpCase", "is_recording", "load_case", "load_found", "load_http_case"]

_GLANCE: Final = 65_536
_RECORDED: Final = re.compile(rb"^(?:- )?(?:interactions|http_interactions|when):", re.MULTILINE)
_SCENARIO: Final = re.compile(rb"^cassette:", re.MULTILINE)


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpCase:
    """One recording, ready to run. `cassette` has the user's side; its model steps are empty."""

    cassette: Cassette
    recording: HttpRecording

    @property
    def name(self) -> str:
        """`http/<the file's path below its root>`."""
        return self.cassette.name

    @property
    def phase(self) -> None:
        """Recordings belong to no rollout phase."""
        return

    @property
    def contract(self) -> tuple[str, ...]:
        """The behaviours that the file's own key `contract` names."""
        return self.recording.contract

    @property
    def note(self) -> str:
        """The description in a list of cases."""
        exchanges = len(self.recording.exchanges)
        return f"recorded HTTP traffic, {exchanges} model call{'' if exchanges == 1 else 's'}"

    @property
    def unused(self) -> tuple[int, ...]:
        """None: the runs must use every exchange."""
        return ()

    def model(
        self,
        cassette: Cassette,
        clock: VirtualClock,
        on_request: Callable[[ObservedRequest], None],
        on_chunk: Callable[[int, int], None],
    ) -> HttpReplayedGenerator:
        """Answer from the recording under the real client; a `ModelSource` of `run_cassette`."""
        from harness.http.replay import HttpReplayedGenerator

        return HttpReplayedGenerator(
            self.recording, clock=clock, on_request=on_request, on_chunk=on_chunk
        )


def is_recording(file: Path) -> bool:
    """Return whether the head of `file` looks like recorded HTTP traffic, not like a scenario."""
    try:
        with open_regular(file) as stream:
            head = stream.read(_GLANCE)
    except OSError:
        return False  # loading the file reports the problem
    return _RECORDED.search(head) is not None and _SCENARIO.search(head) is None


def load_http_case(file: Path, root: Path | None = None) -> HttpCase:
    """Load recorded traffic, whose name is its path below `root`; by default the file's name.

    Raises:
        CassetteFormatError: it is malformed, or holds nothing that the client could read.
    """
    from harness.http.exchanges import SkippedRecording
    from harness.http.vcr_cassettes import load_recording

    # Its import opens a socket (urllib3 looks for IPv6), which a run that is not trusted may not.
    import_module("vcr.cassette")
    recording = load_recording(file)
    if isinstance(recording, SkippedRecording):
        raise CassetteFormatError(
            file, "", recording.reason, "leave it out: no replay can answer from it"
        )
    place = file.absolute()
    within = root is not None and place.is_relative_to(root.absolute())
    root = root.absolute() if root is not None and within else place.parent
    document = recording.document(place.relative_to(root).with_suffix("").as_posix())
    cassette = build_cassette(document, root / f"{document['name']}.yaml", root)
    return HttpCase(cassette=cassette, recording=recording)


def load_case(file: Path, root: Path | None = None) -> Cassette | HttpCase:
    """Load `file`, a scenario or recorded traffic.

    Raises:
        CassetteError: it is neither, or cannot be used.
    """
    return load_http_case(file, root) if is_recording(file) else load_cassette(file, root)


def load_found(file: CassetteFile) -> Cassette | HttpCase:
    """Load a found file as `load_case` does, in the variant that its name ends in.

    Raises:
        CassetteError: it is neither, or cannot be used.
    """
    case = load_case(file.path, file.root)
    variant = variant_of(file.name)
    return case if variant is None or isinstance(case, HttpCase) else as_variant(case, variant)
