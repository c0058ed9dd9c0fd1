"""An MCP server on this machine that wants a token, and the authorization server that gives it."""

from __future__ import annotations

import asyncio
import base64
import hashlib
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

import httpx2
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, RedirectResponse, Response
from starlette.routing import Route

from services.mcp.sign_in import SignInSeam
from tests.services.mcp.test_http import echo_server, serving

Changed = Callable[[dict[str, Any]], dict[str, Any]]


def unchanged(document: dict[str, Any]) -> dict[str, Any]:
    """`document` itself."""
    return document


@dataclass
class Protected:
    """The stand-in: what a test changes about it, and what it has seen."""

    url: str = ""
    resource: Changed = unchanged
    """Changes the protected resource metadata."""
    metadata: Changed = unchanged
    """Changes the authorization server metadata."""
    redirect: Changed = unchanged
    """Changes the parameters that the browser is sent back with."""
    token: Callable[[dict[str, str]], Response | None] = lambda form: None
    """Answers the token endpoint in its place."""
    register: Callable[[dict[str, Any]], Response | None] = lambda asked: None
    challenge: str | None = None
    accepted: set[str] = field(default_factory=set)
    """The tokens that the MCP server takes."""
    lifetime: int | None = 3600
    forms: list[dict[str, str]] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    registered: list[dict[str, Any]] = field(default_factory=list)
    visited: list[dict[str, str]] = field(default_factory=list)
    """The parameters of each authorization."""
    browsed: list[str] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)
    """The questions to the user."""
    agrees: bool = True
    _made: int = 0

    @property
    def endpoint(self) -> str:
        """The MCP server's address."""
        return f"{self.url}/mcp"

    def config(self, **oauth: Any) -> dict[str, Any]:
        """The server's configuration with automatic sign-in."""
        return {"url": self.endpoint, "type": "http", "oauth": {"enabled": True, **oauth}}

    def seam(self) -> SignInSeam:
        """A user who answers as the test says, with a browser that follows redirects."""

        async def consent(server: str, prompt: str) -> bool:
            self.asked.append(prompt)
            return self.agrees

        async def browse(address: str) -> None:
            self.browsed.append(address)
            async with httpx2.AsyncClient(follow_redirects=True, trust_env=False) as browser:
                await browser.get(address)

        return SignInSeam(consent=consent, open_browser=browse)

    def issue(self) -> dict[str, Any]:
        """A new token, which the MCP server takes, with one to refresh it."""
        self._made += 1
        self.accepted.add(f"access-{self._made}")
        answer: dict[str, Any] = {
            "access_token": f"access-{self._made}",
            "token_type": "Bearer",
            "refresh_token": f"refresh-{self._made}",
        }
        return answer if self.lifetime is None else {**answer, "expires_in": self.lifetime}

    async def _resource(self, request: Request) -> Response:
        document = {"resource": self.endpoint, "authorization_servers": [self.url]}
        return JSONResponse(self.resource(document))

    async def _metadata(self, request: Request) -> Response:
        document = {
            "issuer": self.url,
            "authorization_endpoint": f"{self.url}/authorize",
            "token_endpoint": f"{self.url}/token",
            "registration_endpoint": f"{self.url}/register",
            "response_types_supported": ["code"],
            "code_challenge_methods_supported": ["S256"],
        }
        return JSONResponse(self.metadata(document))

    async def _register(self, request: Request) -> Response:
        asked = await request.json()
        self.registered.append(asked)
        return self.register(asked) or JSONResponse({**asked, "client_id": "client-1"}, 201)

    async def _authorize(self, request: Request) -> Response:
        asked = dict(request.query_params)
        self.visited.append(asked)
        answer = self.redirect({"code": "code-1", "state": asked["state"]})
        return RedirectResponse(f"{asked['redirect_uri']}?{urlencode(answer)}", 302)

    async def _token(self, request: Request) -> Response:
        form = {key: str(value) for key, value in (await request.form()).items()}
        self.forms.append(form)
        self.headers.append(dict(request.headers))
        own = self.token(form)
        if own is not None:
            return own
        if form["grant_type"] == "authorization_code":
            digest = hashlib.sha256(form["code_verifier"].encode()).digest()
            challenge = base64.urlsafe_b64encode(digest).decode().rstrip("=")
            if challenge != self.visited[-1]["code_challenge"]:
                return JSONResponse({"error": "invalid_grant"}, 400)
        return JSONResponse(self.issue())

    def app(self) -> Any:
        """Both servers as one application."""
        inner = echo_server().streamable_http_app()
        routes = [
            Route("/.well-known/oauth-protected-resource/mcp", self._resource),
            Route("/.well-known/oauth-authorization-server", self._metadata),
            Route("/register", self._register, methods=["POST"]),
            Route("/authorize", self._authorize),
            Route("/token", self._token, methods=["POST"]),
        ]
        open_part = Starlette(routes=routes)

        async def outer(scope: Any, receive: Any, send: Any) -> None:
            if scope["type"] != "http" or scope["path"] != "/mcp":
                part = inner if scope["type"] == "lifespan" else open_part
                await part(scope, receive, send)
                return
            headers: Mapping[bytes, bytes] = dict(scope["headers"])
            token = headers.get(b"authorization", b"").decode().removeprefix("Bearer ")
            if token in self.accepted:
                await inner(scope, receive, send)
                return
            named = self.challenge or (
                f'Bearer resource_metadata="{self.url}/.well-known/oauth-protected-resource/mcp"'
            )
            await PlainTextResponse("no", 401, {"WWW-Authenticate": named})(scope, receive, send)

        return outer


@asynccontextmanager
async def protected() -> AsyncIterator[Protected]:
    """A running stand-in."""
    made = Protected()
    async with serving(made.app()) as url:
        made.url = url
        yield made
        await asyncio.sleep(0)


def query(address: str) -> dict[str, str]:
    """The parameters of an address."""
    return dict(parse_qsl(urlsplit(address).query))
