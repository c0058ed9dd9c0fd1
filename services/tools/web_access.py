"""How web tools reach what is outside: a model that searches and fetches, and pages themselves.

Source: core `tools/web-fetch.ts` (rate limit), `core/client.ts` (`generateContent`).
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Final, Protocol

from services.abort import AbortSignal
from services.clock import Clock
from services.ids import FixedRandom, RandomSource
from services.model.retry import Retry, RetryObserver
from services.tools.web_addresses import is_internal_name, is_private_address
from services.tools.web_urls import WebUrl
from services.wire import JsonObject

__all__ = ["Page", "PageSource", "ToolModel", "WebAccess"]

_WINDOW_MS: Final = 60_000
_REQUESTS: Final = 10
_HOSTS: Final = 1000


class ToolModel(Protocol):
    """A model that a tool asks on its own behalf, as the client of the conversation would."""

    async def generate_content(self, config_key: str, text: str, signal: AbortSignal) -> JsonObject:
        """The whole response to `text`.

        Raises:
            ModelError: `Failed to generate content with model M: …`.
            AbortError: `signal` was aborted.
        """
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """An HTTP response. Header names are in lower case."""

    status: int
    reason: str
    headers: Mapping[str, str]
    body: bytes

    @property
    def text(self) -> str:
        """The body as UTF-8."""
        return self.body.decode("utf-8", "replace")

    @property
    def content_type(self) -> str:
        """The header, empty when there is none."""
        return self.headers.get("content-type", "")


class PageSource(Protocol):
    """The network."""

    async def addresses(self, host: str) -> list[str]:
        """What `host` resolves to.

        Raises:
            OSError: it does not.
        """
        ...

    async def get(self, url: str, headers: Mapping[str, str], signal: AbortSignal) -> Page:
        """Fetch `url`, redirects followed, nothing on the way private.

        Raises:
            NetworkError: it could not be fetched.
            AbortError: `signal` was aborted.
        """
        ...


@dataclass(slots=True, kw_only=True)
class WebAccess:
    """One session's way to the web."""

    model: ToolModel
    pages: PageSource
    clock: Clock
    rng: RandomSource = field(default_factory=FixedRandom)
    on_retry: RetryObserver | None = None
    """Told of each wait before a page is fetched again."""
    retry_fetch_errors: bool = True
    _asked: OrderedDict[str, list[int]] = field(default_factory=OrderedDict)

    async def is_blocked(self, url: WebUrl) -> bool:
        """Whether `url` leads into this machine or a private network, or to nobody knows where."""
        if is_internal_name(url.host) or is_private_address(url.host):
            return True
        if url.is_address:
            return False
        try:
            with self.clock.real_work():
                addresses = await self.pages.addresses(url.host)
        except (OSError, UnicodeError):
            return True
        return not addresses or any(is_private_address(address) for address in addresses)

    def may_ask(self, host: str) -> bool:
        """Whether `host` may get one more request within a minute; if so, that is it."""
        now = self.clock.now_ms()
        recent = [moment for moment in self._asked.get(host, ()) if moment > now - _WINDOW_MS]
        allowed = len(recent) < _REQUESTS
        if allowed:
            recent.append(now)
        self._asked[host] = recent
        self._asked.move_to_end(host)
        if len(self._asked) > _HOSTS:
            self._asked.popitem(last=False)
        return allowed

    async def fetch(
        self,
        url: str,
        headers: Mapping[str, str],
        signal: AbortSignal,
        *,
        failed: Callable[[Page], Exception | None] | None = None,
    ) -> Page:
        """Fetch `url`, trying again as a question to a model is tried again.

        Args:
            url: what to fetch.
            headers: what to send with it.
            signal: ends it.
            failed: what is wrong with a response; it is judged like any other failure.

        Raises:
            NetworkError, ModelError: it could not be fetched.
            AbortError: `signal` was aborted.
        """

        async def once() -> Page:
            with self.clock.real_work():
                page = await self.pages.get(url, headers, signal)
            failure = failed(page) if failed is not None else None
            if failure is not None:
                raise failure
            return page

        retry = Retry(
            clock=self.clock,
            rng=self.rng,
            signal=signal,
            retry_fetch_errors=self.retry_fetch_errors,
            on_retry=self.on_retry,
        )
        return await retry.run(once)
