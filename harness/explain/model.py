"""`Explanation`: a result in words, as every report shows it."""

from __future__ import annotations

from dataclasses import dataclass

from harness.parity.divergence import ChannelName
from harness.parity.guess import Seam

__all__ = ["Explanation"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    """Why a case is not parity. All texts are printable, whatever is in the case."""

    channel: ChannelName | None
    """The channel of the first cause; `None` where nothing could be compared."""
    sentences: tuple[str, ...]
    """The first names the channel and what differs."""
    contradiction: str = ""
    """The last sentence: what cannot both be right."""
    seam: Seam = Seam.UNKNOWN
    sure: bool = False
    """Whether the seam is certain rather than the best guess."""
    doubt: str = ""
    """Half a sentence on why the seam is not sure; empty where there is none to give."""
    rule: str = ""
    """The rule that named the seam, for counting how often each rule is right."""
    behaviour: str = ""
    """Id of the behaviour in the contract, `P-014`; empty where none is known."""
    source: str = ""
    """Where that behaviour is laid down."""

    @property
    def seam_in_words(self) -> str:
        """`routing`, `probably routing` or `unknown`."""
        if self.sure or self.seam is Seam.UNKNOWN:
            return self.seam.value
        return f"probably {self.seam.value}"

    def lines(self) -> list[str]:
        """All of it as numbered lines."""
        sentences = [*self.sentences, *([self.contradiction] if self.contradiction else [])]
        lines = [f"{number}. {sentence}" for number, sentence in enumerate(sentences, 1)]
        if self.channel is not None:
            doubt = f" ({self.doubt})" if self.doubt else ""
            lines.append(f"seam: {self.seam_in_words}{doubt}")
        if self.behaviour:
            lines.append(f"behaviour: {self.behaviour} ({self.source})")
        return lines
