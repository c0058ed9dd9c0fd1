"""How Google's auth library reaches the network: through `fetch`, like everything else."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import google.auth
import httpx
from google.auth import exceptions, transport
from google.auth.credentials import Credentials

from services.confinement import may_connect
from services.net.blocking import Fetched, fetch
from services.net.errors import NetError
from services.net.terms import Terms

__all__ = ["AmbientCredentials", "GoogleRequest"]

_SCOPES: Final = ("https://www.googleapis.com/auth/cloud-platform",)
_ANSWER_BYTES: Final = 1024 * 1024
_TIMEOUT_S: Final = 120.0


class _Response(transport.Response):
    def __init__(self, fetched: Fetched) -> None:
        self._fetched = fetched

    @property
    def status(self) -> int:
        return self._fetched.status

    @property
    def headers(self) -> Mapping[str, str]:
        return self._fetched.headers

    @property
    def data(self) -> bytes:
        return self._fetched.body


class GoogleRequest(transport.Request):
    """The library's `Request`. Keys, assertions and tokens are sent over HTTPS only.

    The metadata server of a cloud machine is asked over plain HTTP, without credentials.
    """

    def __call__(
        self,
        url: str,
        method: str = "GET",
        body: bytes | str | None = None,
        headers: Mapping[str, str] | None = None,
        timeout: float | None = None,
        **_more: Any,
    ) -> _Response:
        """Send a request.

        Raises:
            TransportError: there is no answer, or the request is forbidden.
        """
        given = headers or {}
        secret = body is not None or any(name.lower() == "authorization" for name in given)
        terms = Terms(answer_bytes=_ANSWER_BYTES, private=secret)
        try:
            return _Response(
                fetch(
                    method,
                    url,
                    terms=terms,
                    timeout_s=timeout or _TIMEOUT_S,
                    headers=given,
                    body=body,
                )
            )
        except (NetError, OSError, httpx.HTTPError) as error:
            failure: Any = exceptions.TransportError  # the library has no types for it
            raise failure(str(error)) from error


class AmbientCredentials(Credentials):
    """The account that the process's environment names, found when a token is first needed."""

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self._found: Any = None

    def refresh(self, request: object) -> None:
        """Get a new token; `request` is not used.

        Raises:
            GoogleAuthError: there is no account, or it gives no token.
            Refused: the session is confined.
        """
        # The search itself can start a program and ask the metadata server.
        may_connect("the servers that issue Google's tokens")
        ours = GoogleRequest()
        if self._found is None:
            self._found, _ = google.auth.default(scopes=_SCOPES, request=ours)
        self._found.refresh(ours)
        self.token, self.expiry = self._found.token, self._found.expiry
        self._quota_project_id = getattr(self._found, "quota_project_id", None)
