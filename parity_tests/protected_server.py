"""A cassette of a session whose MCP server asks for a sign-in, and that server.

The corpus has no such cassette: a confined session opens no connection.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

from harness.cassette.format import Cassette
from harness.cassette.load import build_cassette
from parity_tests.corpus import CORPUS

__all__ = ["refused_sign_in"]


@contextmanager
def refused_sign_in() -> Iterator[Cassette]:
    """Serve on this machine, and return a cassette whose user refuses to sign in there."""
    with ThreadingHTTPServer(("127.0.0.1", 0), _Protected) as server:
        serving = Thread(target=server.serve_forever)
        serving.start()
        try:
            yield _cassette(f"http://127.0.0.1:{server.server_port}")
        finally:
            server.shutdown()
            serving.join()


def _cassette(url: str) -> Cassette:
    server = {"url": f"{url}/mcp", "type": "http", "oauth": {"enabled": True}}
    document = {
        "cassette": 1,
        "name": "mcp/sign_in_refused",
        "phase": "C",
        "session": {"model": "gemini-2.5-flash", "settings": {"mcpServers": {"vault": server}}},
        "script": [{"send": "go"}],
        "answers": {"sign_in": [False]},
        "model": [{"text": "ok"}],
    }
    return build_cassette(document, CORPUS / "mcp" / "sign_in_refused.yaml", CORPUS)


class _Protected(BaseHTTPRequestHandler):
    """Answers with metadata and registrations, and refuses all else."""

    def do_GET(self) -> None:
        """Answer a request for metadata."""
        url = f"http://{self.headers['Host']}"
        if self.path.startswith("/.well-known/oauth-protected-resource"):
            self._answer(200, {"resource": f"{url}/mcp", "authorization_servers": [url]})
        elif self.path.startswith("/.well-known/oauth-authorization-server"):
            self._answer(
                200,
                {
                    "issuer": url,
                    "authorization_endpoint": f"{url}/authorize",
                    "token_endpoint": f"{url}/token",
                    "registration_endpoint": f"{url}/register",
                    "response_types_supported": ["code"],
                    "code_challenge_methods_supported": ["S256"],
                },
            )
        else:
            self._answer(401, {})

    def do_POST(self) -> None:
        """Answer a registration."""
        asked = self.rfile.read(int(self.headers["Content-Length"]))
        if self.path == "/register":
            self._answer(201, {**json.loads(asked), "client_id": "client-1"})
        else:
            self._answer(401, {})

    def _answer(self, status: int, document: dict[str, Any]) -> None:
        body = json.dumps(document).encode()
        self.send_response(status)
        if status == 401:
            metadata = f"http://{self.headers['Host']}/.well-known/oauth-protected-resource"
            self.send_header("WWW-Authenticate", f'Bearer resource_metadata="{metadata}"')
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        """Print nothing."""
