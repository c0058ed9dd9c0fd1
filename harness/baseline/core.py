"""The provider rules that the published core breaks, from its baselines."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path

from harness.baseline.files import BaselineFormatError, cassette_digest, read_baseline
from harness.parity.provider import CoreFindings, core_of

__all__ = ["known_core_findings"]


def known_core_findings(folders: Sequence[Path], name: str, cassette: Path) -> CoreFindings:
    """The published core's findings in the cassette called `name`, whose file is `cassette`.

    The first folder counts that has a readable baseline of the core for this version of the file.
    If none has, `mend` is the command that makes one in the first folder.

    Raises:
        OSError: the cassette cannot be read.
    """
    if not folders:
        return CoreFindings()
    digest = cassette_digest(cassette)
    for folder in folders:
        try:
            stored = read_baseline(folder, name)
        except BaselineFormatError:
            continue
        if stored is not None and stored.cassette_sha256 == digest:
            known = core_of(stored.observation, stored.observation)
            if known is not None:
                return known
    words = ["parity", "baseline", str(cassette), "--runtime", "upstream", "--out", str(folders[0])]
    return CoreFindings(mend=f"observe that with `{shlex.join(words)}`")
