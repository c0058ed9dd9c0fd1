"""The errors of models, and their messages for the user.

ModelError                        root of the model layer's errors; .name as upstream reports it
├── ApiError                      the API refused: .status, .message is the response's JSON
├── NetworkError                  nothing came back: .name, .code, .cause
├── InvalidStreamError            an answer that is none: .type
├── QuotaError                    .google_error, .status, .retry_delay_ms
│   ├── TerminalQuotaError        waiting will not help: .reason
│   └── RetryableQuotaError       waiting may help
├── ModelNotFoundError            .code, 404
├── ValidationRequiredError       the account must be verified: links, .user_handled
├── UnauthorizedError             401, in words
├── ForbiddenError                403, in words
│   └── AccountSuspendedError
├── BadRequestError               400, in words
├── RetryLimitError               a retry that may not start, or ran out without an error
├── ModelConfigError              aliases that do not resolve to a model
├── EmptyMessageError             a request without parts
└── FatalError                    ends the program: .exit_code
    ├── FatalAuthenticationError      41
    ├── FatalInputError               42
    ├── FatalSandboxError             44
    ├── FatalConfigError              52
    ├── FatalTurnLimitedError         53
    ├── FatalToolExecutionError       54
    └── FatalCancellationError        130

An aborted request is `services.abort.AbortError`. Source: core `utils/errors.ts`,
`utils/httpErrors.ts`, `utils/googleQuotaErrors.ts`; google-genai's `ApiError`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar, Final

from services.abort import AbortError
from services.json_values import parse_json
from services.model.google_errors import GoogleError, error_fields, parse_google_error
from services.wire import Json, JsonObject, js_json

__all__ = [
    "AccountSuspendedError",
    "ApiError",
    "BadRequestError",
    "EmptyMessageError",
    "FatalAuthenticationError",
    "FatalCancellationError",
    "FatalConfigError",
    "FatalError",
    "FatalInputError",
    "FatalSandboxError",
    "FatalToolExecutionError",
    "FatalTurnLimitedError",
    "ForbiddenError",
    "InvalidStreamError",
    "ModelConfigError",
    "ModelError",
    "ModelNotFoundError",
    "NetworkError",
    "QuotaError",
    "RetryLimitError",
    "RetryableQuotaError",
    "TerminalQuotaError",
    "UnauthorizedError",
    "ValidationRequiredError",
    "error_message",
    "error_name",
    "error_status",
    "error_type_name",
    "friendly_error",
    "is_abort",
    "is_authentication_error",
    "is_cancellation",
]

_CANCELLATIONS: Final = frozenset({"AbortError", "CanceledError", "FatalCancellationError"})


class ModelError(Exception):
    """The root. `name` is the error's name on the wire, `Error` where upstream has no class."""

    name: str = "Error"

    def __init__(self, message: str) -> None:
        super().__init__(message)

    @property
    def message(self) -> str:
        """The text; the same as `str()`."""
        return str(self)


class ApiError(ModelError):
    """The API answered with an error status.

    Attributes:
        status: The HTTP status.
        details: The `google.rpc` details, if known.
    """

    name = "ApiError"

    def __init__(
        self, status: int, message: str, *, details: Sequence[JsonObject] | None = None
    ) -> None:
        super().__init__(message)
        self.status = status
        self.details = details

    @classmethod
    def from_parts(
        cls,
        status: int,
        message: str,
        grpc: str | None = None,
        details: Sequence[JsonObject] | None = None,
    ) -> ApiError:
        """Make the SDK's error for a response; its message is the response's JSON.

        Args:
            status: The HTTP status, also the body's `code`.
            message: The API's message.
            grpc: The status' name (`RESOURCE_EXHAUSTED`); None: the body has none.
            details: `google.rpc` messages; None: the body has none.
        """
        body: JsonObject = {"code": status, "message": message}
        if grpc is not None:
            body["status"] = grpc
        if details is not None:
            body["details"] = list(details)
        return cls(status, js_json({"error": body}), details=details)


class NetworkError(ModelError):
    """The request did not reach the API, or its response did not arrive.

    Attributes:
        name: The JavaScript error's name (`Error`, `TypeError`), as clients and reports show it.
        code: The system's code (`ECONNRESET`), if this error has one itself.
        cause: Another error, or its fields `{name, message, code}`.
    """

    def __init__(
        self,
        message: str,
        *,
        name: str = "Error",
        code: str | None = None,
        cause: BaseException | Mapping[str, Json] | None = None,
    ) -> None:
        super().__init__(message)
        self.name = name
        self.code = code
        self.cause = cause


class InvalidStreamError(ModelError):
    """A stream ended without a usable answer; `type` names the reason."""

    name = "InvalidStreamError"

    def __init__(self, message: str, type: str) -> None:
        super().__init__(message)
        self.type = type


class QuotaError(ModelError):
    """The API will not serve this model now.

    Attributes:
        google_error: The API's error (upstream's `cause`).
        status: The API error's code.
        retry_delay_ms: The wait that the API asks for; None for no wait.
    """

    def __init__(
        self, message: str, google_error: GoogleError, retry_delay_s: float | None = None
    ) -> None:
        super().__init__(message)
        self.google_error = google_error
        self.status = google_error.code
        self.retry_delay_ms = retry_delay_s * 1000 if retry_delay_s else None


class TerminalQuotaError(QuotaError):
    """A quota that does not refill within minutes. `reason` is the API's, if any."""

    name = "TerminalQuotaError"

    def __init__(
        self,
        message: str,
        google_error: GoogleError,
        retry_delay_s: float | None = None,
        reason: str | None = None,
    ) -> None:
        super().__init__(message, google_error, retry_delay_s)
        self.reason = reason

    @property
    def is_insufficient_credits(self) -> bool:
        """True when the account has run out of credits."""
        return self.reason == "INSUFFICIENT_G1_CREDITS_BALANCE"


class RetryableQuotaError(QuotaError):
    """A quota that refills soon."""

    name = "RetryableQuotaError"


class ModelNotFoundError(ModelError):
    """The model does not exist, or the account may not use it."""

    name = "ModelNotFoundError"

    def __init__(self, message: str, code: int = 404) -> None:
        super().__init__(message)
        self.code = code


class ValidationRequiredError(ModelError):
    """The account must be verified.

    `user_handled` is set when the user was asked and did not verify.
    """

    name = "ValidationRequiredError"

    def __init__(
        self,
        message: str,
        google_error: GoogleError,
        *,
        validation_link: str | None = None,
        validation_description: str | None = None,
        learn_more_url: str | None = None,
    ) -> None:
        super().__init__(message)
        self.google_error = google_error
        self.validation_link = validation_link
        self.validation_description = validation_description
        self.learn_more_url = learn_more_url
        self.user_handled = False


class UnauthorizedError(ModelError):
    """Not signed in."""

    name = "UnauthorizedError"


class ForbiddenError(ModelError):
    """Signed in, but not allowed."""

    name = "ForbiddenError"


class AccountSuspendedError(ForbiddenError):
    """The account was suspended for breaking the terms of service."""

    name = "AccountSuspendedError"


class BadRequestError(ModelError):
    """The request was malformed."""

    name = "BadRequestError"


class RetryLimitError(ModelError):
    """A retry loop had no attempts, or used them up on rejected answers."""


class ModelConfigError(ModelError):
    """Aliases and overrides do not lead to a model."""


class EmptyMessageError(ModelError):
    """A request has no parts. Source: google-genai's `createUserContent`."""

    def __init__(self) -> None:
        super().__init__("partOrString cannot be an empty array")


class FatalError(ModelError):
    """The program must end, with `exit_code`."""

    name = "FatalError"

    def __init__(self, message: str, exit_code: int) -> None:
        super().__init__(message)
        self.exit_code = exit_code


class _FixedExit(FatalError):
    _code: ClassVar[int]

    def __init__(self, message: str) -> None:
        super().__init__(message, self._code)


class FatalAuthenticationError(_FixedExit):
    """No way to sign in."""

    name = "FatalAuthenticationError"
    _code = 41


class FatalInputError(_FixedExit):
    """The input is unusable."""

    name = "FatalInputError"
    _code = 42


class FatalSandboxError(_FixedExit):
    """The sandbox could not be entered."""

    name = "FatalSandboxError"
    _code = 44


class FatalConfigError(_FixedExit):
    """The configuration cannot be used."""

    name = "FatalConfigError"
    _code = 52


class FatalTurnLimitedError(_FixedExit):
    """The session used up its turns."""

    name = "FatalTurnLimitedError"
    _code = 53


class FatalToolExecutionError(_FixedExit):
    """A tool failed, and the session cannot go on."""

    name = "FatalToolExecutionError"
    _code = 54


class FatalCancellationError(_FixedExit):
    """Interrupted."""

    name = "FatalCancellationError"
    _code = 130


def error_name(error: BaseException) -> str:
    """Return the error's name on the wire; for Python's errors, the class name."""
    if isinstance(error, (ModelError, AbortError)):
        return error.name
    return type(error).__name__


def is_abort(error: BaseException) -> bool:
    """Whether `error` has the name of an abort."""
    return error_name(error) == AbortError.name


def is_cancellation(error: BaseException) -> bool:
    """Whether `error` has the name of a cancellation.

    Source: core `core/geminiChat.ts`, where it rolls history back.
    """
    return error_name(error) in _CANCELLATIONS


def error_type_name(error: object) -> str:
    """Return the error's type for reports; `unknown` for a value that is no exception."""
    return error_name(error).lstrip("_") if isinstance(error, BaseException) else "unknown"


def error_status(error: BaseException) -> int | float | None:
    """Return the HTTP status: a numeric `status`, else `response.status`."""
    fields = error_fields(error)
    for status in (fields.get("status"), error_fields(fields.get("response")).get("status")):
        if isinstance(status, (int, float)) and not isinstance(status, bool):
            return status
    return None


def friendly_error(error: BaseException) -> BaseException:
    """Return `error`, or the named error for an HTTP client's 400, 401 or 403."""
    parsed = parse_google_error(error)
    if parsed is not None and parsed.code == 403:
        for detail in parsed.details:
            if (
                detail["@type"] == "type.googleapis.com/google.rpc.ErrorInfo"
                and detail.get("reason") == "TOS_VIOLATION"
            ):
                return AccountSuspendedError(parsed.message)
    body = _response_error(error)
    message = body.get("message")
    if not message or not isinstance(message, str):
        return error
    named = {400: BadRequestError, 401: UnauthorizedError, 403: ForbiddenError}
    code = body.get("code")
    return named[code](message) if isinstance(code, int) and code in named else error


def _response_error(error: BaseException) -> Mapping[str, Json]:
    data = error_fields(error_fields(error).get("response")).get("data")
    if isinstance(data, str):
        try:
            data = parse_json(data)
        except ValueError:
            return {}
    return error_fields(error_fields(data).get("error"))


def error_message(error: BaseException) -> str:
    """The error's message for the user."""
    try:
        return str(friendly_error(error))
    except Exception:  # noqa: BLE001 - an error whose own text fails must still be reported
        return "Failed to get error details"


def is_authentication_error(error: BaseException) -> bool:
    """Whether `error` is a 401: by its code, its name, or the number in its message."""
    if error_fields(error).get("code") == 401:
        return True
    if error_name(error) == "UnauthorizedError":
        return True
    return "401" in error_message(error)
