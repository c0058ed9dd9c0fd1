"""How OpenTelemetry's exporters reach a collector: through `fetch`, behind a session of `requests`.

The exporters take a `requests.Session` only, and send from threads of their own. A redirect is not
followed: it would send measurements to an address that the user did not configure.
"""

from __future__ import annotations

import importlib
import io
import ssl
from contextvars import copy_context
from functools import partial
from typing import Any, Final

import httpx

from services.net.blocking import fetch
from services.net.errors import NetError
from services.net.terms import Terms

__all__ = ["collector_session"]

_ANSWER_BYTES: Final = 1024 * 1024


def collector_session() -> Any:
    """A `requests.Session` for the exporters of one collector.

    It belongs to the session that makes it: the requests of other threads are refused, too, while
    that session is confined.
    """
    requests = importlib.import_module("requests")
    session = requests.Session()
    # `requests` would send the user's `.netrc` along.
    session.trust_env = False
    session.get_redirect_target = lambda _response: None
    adapter = _Adapter(requests)
    for scheme in list(session.adapters):
        session.mount(scheme, adapter)
    return session


class _Adapter:
    def __init__(self, requests: Any) -> None:
        self._requests = requests
        self._context = copy_context()

    def send(
        self,
        request: Any,
        *,
        timeout: Any = None,
        verify: bool | str = True,
        cert: Any = None,
        **_more: Any,
    ) -> Any:
        """Send a prepared request, and return a `requests.Response`.

        Raises:
            requests.ConnectionError: there is no answer, or the request is forbidden.
        """
        terms = Terms(answer_bytes=_ANSWER_BYTES, private="authorization" in request.headers)
        ask = partial(
            fetch,
            request.method,
            request.url,
            terms=terms,
            timeout_s=max(timeout) if isinstance(timeout, tuple) else timeout,
            headers=dict(request.headers),
            body=request.body,
            verify=_trust(verify, cert),
        )
        try:
            # A thread of the exporter's does not have the context of the session.
            fetched = self._context.copy().run(ask)
        except (NetError, OSError, httpx.HTTPError) as error:
            raise self._requests.exceptions.ConnectionError(str(error)) from error
        response = self._requests.Response()
        response.status_code = fetched.status
        response.reason = fetched.reason
        response.headers.update(fetched.headers)
        # The body is decoded already.
        response.headers.pop("content-encoding", None)
        response.url = request.url
        response.request = request
        response.raw = io.BytesIO(fetched.body)
        return response

    def close(self) -> None:
        """Nothing stays open between requests."""


def _trust(verify: bool | str, cert: Any) -> ssl.SSLContext | bool:
    if verify is False or (verify is True and cert is None):
        return verify
    context = ssl.create_default_context(cafile=verify if isinstance(verify, str) else None)
    if cert is not None:
        context.load_cert_chain(*((cert,) if isinstance(cert, str) else cert))
    return context
