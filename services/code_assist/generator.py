"""`CodeAssistContentGenerator`: the models of an account signed in with Google.

Source: core `code_assist/server.ts`, `code_assist/codeAssist.ts`.
"""

from __future__ import annotations

from services.abort import until_aborted
from services.code_assist.server import CodeAssistServer, events_of
from services.code_assist.setup import UserData
from services.code_assist.wire import count_request, counted, generate_request, generated
from services.model.errors import ApiError, ModelError
from services.model.generator import ChunkStream, EmbedRequest, ModelRequest
from services.model.sdk_stream import SdkStream
from services.wire import JsonObject

__all__ = ["CodeAssistContentGenerator"]


class CodeAssistContentGenerator:
    """Asks Code Assist.

    Args:
        server: the server; its owner closes it.
        user: the account's project.
        session_id: sent with each request.
    """

    def __init__(self, server: CodeAssistServer, user: UserData, session_id: str) -> None:
        self._server = server
        self.user = user
        self._session_id = session_id

    async def generate_content(self, request: ModelRequest) -> JsonObject:
        """Send a request and return the whole response."""
        body = generate_request(request, self.user.project, self._session_id)
        ask = self._server.call("generateContent", body)
        return generated(await until_aborted(ask, request.signal))

    async def generate_content_stream(self, request: ModelRequest) -> ChunkStream:
        """Connect, and read the first chunk."""
        body = generate_request(request, self.user.project, self._session_id)
        connect = self._server.connected("streamGenerateContent", body)
        response = await until_aborted(connect, request.signal)
        events = events_of(response)

        async def pull() -> JsonObject | None:
            said = await until_aborted(self._server.next_event(events), request.signal)
            return None if said is None else generated(said)

        async def close() -> None:
            await events.aclose()
            await response.aclose()

        stream = SdkStream(pull, close)
        try:
            stream.head = await pull()
        except ModelError as error:
            stream.head = error
        except BaseException:
            await stream.aclose()
            raise
        return stream

    async def count_tokens(self, request: ModelRequest) -> JsonObject:
        """Count the tokens of the request's contents."""
        ask = self._server.call("countTokens", count_request(request))
        return counted(await until_aborted(ask, request.signal))

    async def embed_content(self, request: EmbedRequest) -> JsonObject:
        """Raise, since Code Assist embeds nothing.

        Raises:
            ApiError: always.
        """
        message = "Code Assist embeds no texts; sign in with an API key for that"
        raise ApiError.from_parts(501, message, "UNIMPLEMENTED")
