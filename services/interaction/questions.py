"""What a session may ask its user.

Each question is a value. Its class names the field of `Handlers` that answers it, and `default` is
the answer where no surface answers: the behaviour of a headless run.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from enum import StrEnum
from typing import ClassVar, Generic, TypeVar

__all__ = [
    "FallbackIntent",
    "FallbackQuestion",
    "LoopChoice",
    "LoopQuestion",
    "NewAgent",
    "NewAgentsChoice",
    "NewAgentsQuestion",
    "Question",
    "SignInQuestion",
    "SignInSubject",
    "TrustChoice",
    "TrustQuestion",
    "ValidationIntent",
    "ValidationQuestion",
]

A = TypeVar("A")


class Question(ABC, Generic[A]):
    """A question that is answered with an `A`."""

    __slots__ = ()

    kind: ClassVar[str]
    """The field of `Handlers` that answers it."""

    @property
    @abstractmethod
    def default(self) -> A:
        """The answer where no surface answers questions of this kind."""


class FallbackIntent(StrEnum):
    """What to do about a model that is not available; the values are the wire's.

    Source: core `fallback/types.ts`.
    """

    RETRY_ALWAYS = "retry_always"
    """Use the fallback model from now on."""
    RETRY_ONCE = "retry_once"
    """Try again; the failed model counts as unavailable."""
    RETRY_WITH_CREDITS = "retry_with_credits"
    """Try again and pay with credits."""
    STOP = "stop"
    RETRY_LATER = "retry_later"
    UPGRADE = "upgrade"
    """Stop; the user wants higher limits."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FallbackQuestion(Question[FallbackIntent | None]):
    """Whether to use `fallback_model` instead of `failed_model`.

    The two are equal where no other model is available. A surface that offers to pay with credits
    asks the user within its handler, as upstream's terminal does, and answers `retry_with_credits`.
    Source: core `fallback/types.ts`, `FallbackModelHandler`.

    Attributes:
        failed_model: The model that is not available.
        fallback_model: The model that may replace it.
        error: The class name of the error.
        cause: The error as classified, for the surface's words: its reason, when the quota returns.
            `None` where the runtime works in another program.
    """

    kind: ClassVar[str] = "fallback"

    failed_model: str
    fallback_model: str
    error: str
    cause: Exception | None = field(default=None, compare=False, repr=False)

    @property
    def default(self) -> None:
        """No decision: the request fails with the model's error."""
        return None


class ValidationIntent(StrEnum):
    """What to do about an account that must be verified; the values are the wire's."""

    VERIFY = "verify"
    """The user has verified the account: try again."""
    CHANGE_AUTH = "change_auth"
    CANCEL = "cancel"


@dataclass(frozen=True, slots=True, kw_only=True)
class ValidationQuestion(Question[ValidationIntent | None]):
    """The API refuses requests until the user has verified the account.

    Source: core `fallback/types.ts`, `ValidationHandler`.

    Attributes:
        link: The page where the user verifies the account.
        description: The link's text.
        learn_more_url: A page that explains the verification.
    """

    kind: ClassVar[str] = "validation"

    link: str | None
    description: str | None
    learn_more_url: str | None

    @property
    def default(self) -> None:
        """No decision: the request fails with the error, which names the link."""
        return None


class LoopChoice(StrEnum):
    """Whether to go on looking for loops."""

    DISABLE = "disable"
    """Find no loops until the session ends. The surface may send the prompt again."""
    KEEP = "keep"


@dataclass(frozen=True, slots=True, kw_only=True)
class LoopQuestion(Question[LoopChoice]):
    """A stream has ended because the conversation repeats itself.

    The stream's last events precede the question. Source: `packages/cli`
    `ui/hooks/useGeminiStream.ts`.

    Attributes:
        prompt_id: The id of the prompt that ended.
    """

    kind: ClassVar[str] = "loop"

    prompt_id: str

    @property
    def default(self) -> LoopChoice:
        """Loop detection stays on."""
        return LoopChoice.KEEP


class TrustChoice(StrEnum):
    """Whether a folder is trusted; the values are those of `~/.gemini/trustedFolders.json`."""

    TRUST_FOLDER = "TRUST_FOLDER"
    TRUST_PARENT = "TRUST_PARENT"
    """Trust the folder that contains it, and all that is in there."""
    DO_NOT_TRUST = "DO_NOT_TRUST"


@dataclass(frozen=True, slots=True, kw_only=True)
class TrustQuestion(Question[TrustChoice | None]):
    """Whether to trust a folder that no rule of the user's covers.

    It is asked while the session opens. Source: core `utils/trust.ts`; `packages/cli`
    `ui/hooks/useFolderTrust.ts`.

    Attributes:
        folder: The absolute path of the workspace.
    """

    kind: ClassVar[str] = "trust"

    folder: str

    @property
    def default(self) -> None:
        """No decision: the session's own setting holds, and nothing is remembered."""
        return None


class NewAgentsChoice(StrEnum):
    """Whether to use the project's agents that the user has not seen before."""

    ACKNOWLEDGE = "acknowledge"
    IGNORE = "ignore"


@dataclass(frozen=True, slots=True, kw_only=True)
class NewAgent:
    """One agent of the project."""

    name: str
    description: str


@dataclass(frozen=True, slots=True, kw_only=True)
class NewAgentsQuestion(Question[NewAgentsChoice]):
    """The project brings agents that are new or have changed.

    The session does not wait for the answer: until then it works without these agents.
    Source: core `agents/registry.ts`; `packages/cli` `ui/components/NewAgentsNotification.tsx`.
    """

    kind: ClassVar[str] = "new_agents"

    agents: tuple[NewAgent, ...]

    @property
    def default(self) -> NewAgentsChoice:
        """The agents stay unused, and the question returns in the next session."""
        return NewAgentsChoice.IGNORE


class SignInSubject(StrEnum):
    """What wants the user to sign in."""

    MCP_SERVER = "mcp_server"
    AGENT = "agent"


@dataclass(frozen=True, slots=True, kw_only=True)
class SignInQuestion(Question[bool]):
    """Whether the session may open a page in the browser where the user signs in.

    Source: core `utils/authConsent.ts`.

    Attributes:
        subject: The kind of what wants the sign-in.
        name: The name of the server or the agent.
        prompt: The question as text for the user.
        url: The page that would be opened, where it is known already.
    """

    kind: ClassVar[str] = "sign_in"

    subject: SignInSubject
    name: str
    prompt: str
    url: str | None = None

    @property
    def default(self) -> bool:
        """No sign-in: the server or the agent stays unavailable."""
        return False
