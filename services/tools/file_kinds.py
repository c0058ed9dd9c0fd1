"""Classifies files: text, image, audio, video, PDF or unreadable.

Source: core `utils/fileUtils.ts`; npm `isbinaryfile` and the standard types of npm `mime`.
"""

from __future__ import annotations

import base64
from pathlib import Path
from typing import Final, Literal, TypeAlias

from services.paths import extension
from services.wire import Part

__all__ = [
    "AUDIO_FORMATS",
    "MAX_MEGABYTES",
    "MEGABYTE",
    "UNREADABLE_ENDINGS",
    "FileKind",
    "audio_type",
    "decode",
    "file_kind",
    "inline_data",
    "looks_binary",
    "media_type",
]

FileKind: TypeAlias = Literal["text", "svg", "image", "pdf", "audio", "video", "binary"]

MAX_MEGABYTES: Final = 20
"""The size limit of files that tools read."""
MEGABYTE: Final = 1024 * 1024
AUDIO_FORMATS: Final = "MP3, WAV, AIFF, AAC, OGG, and FLAC"
_SNIFFED: Final = 512
_RESERVE: Final = 3

_TYPES: Final[dict[str, str]] = {
    suffix: f"{family}/{name}"
    for family, table in {
        "application": "pdf:pdf",
        "audio": (
            "aac:adts,aac adpcm:adp amr:amr basic:au,snd midi:mid,midi,kar,rmi mobile-xmf:mxmf "
            "mp4:m4a,mp4a,m4b mpeg:mpga,mp2,mp2a,mp3,m2a,m3a ogg:oga,ogg,spx,opus s3m:s3m "
            "silk:sil wav:wav webm:weba xm:xm"
        ),
        "image": (
            "aces:exr apng:apng avci:avci avcs:avcs avif:avif bmp:bmp,dib cgm:cgm "
            "dicom-rle:drle dpx:dpx emf:emf fits:fits g3fax:g3 gif:gif heic:heic "
            "heic-sequence:heics heif:heif heif-sequence:heifs hej2k:hej2 ief:ief jaii:jaii "
            "jais:jais jls:jls jp2:jp2,jpg2 jpeg:jpg,jpeg,jpe jph:jph jphc:jhc jpm:jpm,jpgm "
            "jpx:jpx,jpf jxl:jxl jxr:jxr jxra:jxra jxrs:jxrs jxs:jxs jxsc:jxsc jxsi:jxsi "
            "jxss:jxss ktx:ktx ktx2:ktx2 pjpeg:jfif png:png sgi:sgi svg+xml:svg,svgz t38:t38 "
            "tiff:tif,tiff tiff-fx:tfx webp:webp wmf:wmf"
        ),
        "video": (
            "3gpp:3gp,3gpp 3gpp2:3g2 h261:h261 h263:h263 h264:h264 iso.segment:m4s jpeg:jpgv "
            "mj2:mj2,mjp2 mp2t:ts,m2t,m2ts,mts mp4:mp4,mp4v,mpg4 mpeg:mpeg,mpg,mpe,m1v,m2v "
            "ogg:ogv quicktime:qt,mov webm:webm"
        ),
    }.items()
    for name, suffixes in (entry.split(":") for entry in table.split())
    for suffix in suffixes.split(",")
}
_AUDIO: Final = {
    ".mp3": "audio/mpeg",
    ".wav": "audio/wav",
    ".aiff": "audio/aiff",
    ".aif": "audio/aiff",
    ".aac": "audio/aac",
    ".ogg": "audio/ogg",
    ".flac": "audio/flac",
}
UNREADABLE_ENDINGS: Final = (
    "bin exe dll so dylib class jar war zip tar gz bz2 rar 7z pak rpa doc docx xls xlsx ppt pptx "
    "odt ods odp pyc pyo"
)
"""Endings of binary files that no model reads. Source: core `utils/ignorePatterns.ts`."""
_MEDIA_AND_OBJECTS: Final = "pdf png jpg jpeg gif webp bmp svg dat obj o a lib wasm"
_BINARY: Final = frozenset(
    f".{ending}" for ending in f"{UNREADABLE_ENDINGS} {_MEDIA_AND_OBJECTS}".split()
)
_TYPESCRIPT: Final = frozenset({".ts", ".mts", ".cts"})


def media_type(path: Path) -> str | None:
    """The image, audio, video or PDF type of the file's name."""
    name = path.name.lower()
    suffix = name.rpartition(".")[2]
    return _TYPES.get(suffix) if len(suffix) < len(name) - 1 else None


def audio_type(path: Path) -> str | None:
    """The type for sending an audio file; `None` for formats that models do not accept."""
    promised = media_type(path)
    if promised in _AUDIO.values():
        return promised
    return _AUDIO.get(extension(path.name).lower())


def file_kind(path: Path) -> FileKind:
    """The kind of the existing file at `path`, by its name and, if necessary, its first bytes."""
    suffix = extension(path.name).lower()
    if suffix in _TYPESCRIPT:
        return "text"
    if suffix == ".svg":
        return "svg"
    promised = media_type(path) or ""
    if promised.startswith("image/"):
        return "image"
    if promised == "application/pdf":
        return "pdf"
    if promised.startswith(("audio/", "video/")) or audio_type(path):
        if not looks_binary(path):
            return "text"
        return "video" if promised.startswith("video/") else "audio"
    if suffix in _BINARY or looks_binary(path):
        return "binary"
    return "text"


def looks_binary(path: Path) -> bool:
    """Whether the first 512 bytes of the file at `path` are not text."""
    if not path.is_file():
        return False
    with path.open("rb") as stream:
        return _binary(stream.read(_SNIFFED + _RESERVE))


def _binary(head: bytes) -> bool:
    if not head or head.startswith((b"\xef\xbb\xbf", b"\x00\x00\xfe\xff", b"\x84\x31\x95\x33")):
        return False
    if head.startswith(b"%PDF-"):
        return True
    if head.startswith((b"\xfe\xff", b"\xff\xfe")):
        return False
    scanned = min(len(head), _SNIFFED)
    suspicious = 0
    place = 0
    while place < scanned:
        byte = head[place]
        if byte == 0:
            return True
        if not (7 <= byte <= 14 or 32 <= byte <= 127):
            step, valid = _utf8_step(head, place)
            place += step
            if not valid:
                suspicious += 1
        place += 1
    if suspicious * 100 / scanned > 10:
        return True
    return suspicious > 1 and _protobuf(head[:scanned])


def _utf8_step(head: bytes, place: int) -> tuple[int, bool]:
    """The step after a lead byte, and whether it began a valid character.

    As in upstream's check, a two-byte lead consumes the next byte even if that is invalid.
    """
    lead = head[place]
    rest = head[place + 1 : place + 4]
    if 0xC0 <= lead <= 0xDF and len(rest) >= 1:
        return 1, 0x80 <= rest[0] <= 0xBF
    if 0xE0 <= lead <= 0xEF and len(rest) >= 2:
        valid = all(0x80 <= byte <= 0xBF for byte in rest[:2])
        return (2 if valid else 1), valid
    if 0xF0 <= lead <= 0xF7 and len(rest) >= 3:
        valid = all(0x80 <= byte <= 0xBF for byte in rest)
        return (3 if valid else 1), valid
    return 0, False


class _ShortRead(Exception):
    pass


def _protobuf(head: bytes) -> bool:
    """Whether the bytes could be the start of a protocol buffer."""
    place = 0

    def variable_integer() -> int:
        nonlocal place
        value = 0
        for index in range(11):
            if place >= len(head):
                raise _ShortRead
            byte = head[place]
            place += 1
            # Upstream counts in 32 bits with a sign, and turns the bits around beyond them.
            value |= (byte & 0x7F) << (7 * index % 32)
            if not byte & 0x80:
                return (value + 2**31) % 2**32 - 2**31
        raise _ShortRead

    messages = 0
    try:
        while True:
            wire_type = variable_integer() & 0x7
            if wire_type == 0:
                variable_integer()
            elif wire_type in (1, 2, 5):
                length = {1: 8, 5: 4}.get(wire_type) or variable_integer()
                place += max(0, length)
                if place > len(head):
                    raise _ShortRead
            else:
                return False
            messages += 1
    except _ShortRead:
        return messages > 0


def inline_data(data: bytes, media_type: str) -> Part:
    """The part of a request with a whole file."""
    return {"inlineData": {"data": base64.b64encode(data).decode(), "mimeType": media_type}}


def decode(data: bytes) -> str:
    """Text from bytes: by the byte order mark, which is dropped, else UTF-8."""
    for mark, unit, encoding in (
        (b"\xff\xfe\x00\x00", 4, "utf-32-le"),
        (b"\x00\x00\xfe\xff", 4, "utf-32-be"),
        (b"\xef\xbb\xbf", 1, "utf-8"),
        (b"\xff\xfe", 2, "utf-16-le"),
        (b"\xfe\xff", 2, "utf-16-be"),
    ):
        if data.startswith(mark):
            rest = data[len(mark) :]
            # Upstream drops an incomplete unit at the end.
            return rest[: len(rest) // unit * unit].decode(encoding, "replace")
    return data.decode(errors="replace")
