"""How web tools reach the web: through a model that searches and fetches, or page by page.

Source: core `tools/web-fetch.ts` (rate limit), `core/client.ts` (`generateContent`).
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Final, Protocol

from services.abort import AbortSignal
from services.clock import Clock
from services.ids import RandomSource
from services.model.classification import retry_error_type
from services.model.retry import Retry
from services.settings import Settings
from services.state import CoreEvents, RetryAttempt
from services.tools.web_addresses import is_internal_name, is_private_address
from services.tools.web_urls import WebUrl
from services.wire import JsonObject

__all__ = ["Page", "PageSource", "ToolModel", "WebAccess"]

_WINDOW_MS: Final = 60_000
_REQUESTS: Final = 10
_HOSTS: Final = 1000


class ToolModel(Protocol):
    """A model that a tool asks, as the client of the conversation would."""

    async def generate_content(self, config_key: str, text: str, signal: AbortSignal) -> JsonObject:
        """The whole response to `text`.

        Raises:
            ModelError: `Failed to generate content with model M: …`.
            AbortError: `signal` was aborted.
        """


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
        return self.body.decode(errors="replace")

    @property
    def content_type(self) -> str:
        """The header, empty when there is none."""
        return self.headers.get("content-type", "")


class PageSource(Protocol):
    """The network."""

    async def addresses(self, host: str) -> list[str]:
        """The addresses that `host` resolves to.

        Raises:
            OSError: it does not resolve.
        """

    async def get(self, url: str, headers: Mapping[str, str], signal: AbortSignal) -> Page:
        """Fetch `url` and follow redirects; refuse private addresses on the way.

        Raises:
            NetworkError: it could not be fetched.
            ModelError: an address on the way is private, or the page is too large.
            AbortError: `signal` was aborted.
        """


@dataclass(slots=True, kw_only=True)
class WebAccess:
    """One session's way to the web."""

    model: ToolModel
    pages: PageSource
    clock: Clock
    rng: RandomSource
    events: CoreEvents
    """Receives each wait before a page is fetched again."""
    settings: Settings
    _asked: OrderedDict[str, list[int]] = field(default_factory=OrderedDict)

    async def is_blocked(self, url: WebUrl) -> bool:
        """Whether `url` leads into this machine or a private network, or does not resolve."""
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
        """Count a request to `host`, unless its requests of the last minute reach the limit."""
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
        """Fetch `url`, with the retries of a request to a model.

        Args:
            url: what to fetch.
            headers: what to send with it.
            signal: ends it.
            failed: the error of a response, if it has one; it is retried like any other.

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
            retry_fetch_errors=self.settings.retry_fetch_errors,
            on_retry=self._report_retry,
        )
        return await retry.run(once)

    def _report_retry(self, attempt: int, error: Exception, delay_ms: float) -> None:
        self.events.emit(
            RetryAttempt(
                attempt=attempt,
                max_attempts=self.settings.max_attempts,
                delay_ms=delay_ms,
                error=retry_error_type(error),
                model="Web Fetch",
            )
        )
