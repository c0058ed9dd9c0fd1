"""The folders of extensions: copying one, and removing it."""

from __future__ import annotations

import os
import shutil
import stat
from pathlib import Path
from typing import Final

__all__ = ["copied", "removed"]

_WRITABLE: Final = {True: stat.S_IRWXU, False: stat.S_IRUSR | stat.S_IWUSR}


def copied(source: Path, target: Path, *, linked: bool) -> None:
    """Copy the files of an extension, and make the copies writable for their owner.

    Of a linked extension there are no files to copy.
    """
    target.parent.mkdir(parents=True, exist_ok=True)
    if linked:
        target.mkdir()
        return
    shutil.copytree(source, target, symlinks=True)
    for folder, folders, files in os.walk(target):
        for name in (*folders, *files):
            place = Path(folder, name)
            if not place.is_symlink():
                place.chmod(place.stat().st_mode | _WRITABLE[place.is_dir()])


def removed(place: Path) -> None:
    """Remove a folder, or the link to one."""
    if place.is_symlink():
        place.unlink()
    else:
        shutil.rmtree(place)
