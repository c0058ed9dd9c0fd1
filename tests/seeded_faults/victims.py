"""What the tests of patching break."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator

LIMIT = 3


def greeting(name: str) -> str:
    return f"hello {name}"


class Base:
    def inherited(self) -> str:
        return "inherited"


class Victim(Base):
    def __init__(self) -> None:
        self._size = 1

    def method(self, word: str) -> str:
        return f"method {word}"

    @staticmethod
    def static(word: str) -> str:
        return f"static {word}"

    @classmethod
    def of_class(cls, word: str) -> str:
        return f"{cls.__name__} {word}"

    @property
    def size(self) -> int:
        return self._size

    @size.setter
    def size(self, size: int) -> None:
        self._size = size

    def numbers(self) -> Iterator[int]:
        yield 1
        yield 2

    async def awaited(self) -> str:
        return "awaited"

    async def stream(self) -> AsyncIterator[int]:
        yield 1
        yield 2
