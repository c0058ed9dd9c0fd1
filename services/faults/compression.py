"""Faults of the services in compression."""

from __future__ import annotations

from typing import Any

from seeded_faults import Behaviour, Faults, Site
from seeded_faults.altered import Altered
from seeded_faults.wrappers import changed, during, instead, result, returns

held_out = Faults(Site.SERVICE, Behaviour.CONTEXT, held_out=True)


def _keeping_first_answer(model: Any) -> Altered:
    """Ask `model` each time, but always return its first answer."""
    answers: list[Any] = []

    async def generate_content(request: Any) -> Any:
        answers.append(await model.generate_content(request))
        return answers[0]

    return Altered(model, generate_content=generate_content)


summary_unacknowledged = held_out.wrap(
    "services.compression.service:_turns",
    result(lambda found: found[:1]),
    says="After a compression, the model's answer to the summary is missing.",
    origin="a single summary in the place of several turns",
)
earlier_snapshot_unnoticed = held_out.wrap(
    "services.compression.service:_has_snapshot",
    returns(False),
    says="A second summary is requested as if there were no earlier one.",
    origin="a prompt built before the history is read",
)
forced_failure_counts = held_out.wrap(
    "services.compression.service:ChatCompressionService._judged",
    instead(lambda judged, self, *args: judged(self, *args[:-1], False)),
    says="A failed compression on the user's request disables automatic compression.",
    origin="a flag set whenever a compression fails",
)
failed_compression_outlives_chat = held_out.wrap(
    "services.compression.service:ChatCompressionService.chat_started",
    returns(None),
    says="A failure in one chat prevents a summary in the next.",
    origin="a service that outlives its chats",
)
one_model_summarises_all = held_out.wrap(
    "services.compression.service:_CONFIG_KEYS",
    lambda _: {},
    says="The same model summarises every conversation.",
    origin="a configuration table that was not ported",
)
split_counts_turns = held_out.wrap(
    "services.compression.budget:js_length",
    returns(1),
    says="A compression keeps a share of the turns, regardless of their length.",
    origin="a compactor with a window of events",
)
summary_weighed_alone = held_out.wrap(
    "services.compression.service:ChatCompressionService._judged",
    during("_session_context", lambda: {"role": "user", "parts": []}),
    says="A summary's length is compared without the context before it.",
    origin="a comparison of texts instead of requests",
)


improved_summary_thrown_away = held_out.wrap(
    "services.compression.service:ChatCompressionService._summarise",
    changed("_model", _keeping_first_answer),
    says="The model is asked what its summary lacks, but the answer is not used.",
    origin="the older of two variables returned",
)


@held_out(
    "services.compression.service:ChatCompressionService.__init__", origin="`is None` for `or`"
)
def zero_threshold_taken_literally(prepare: Any, /, self: Any, session: Any, **seams: Any) -> None:
    """A threshold of 0 compresses on every request, not at half a window."""
    prepare(self, session, **seams)
    threshold = session.settings.compression_threshold
    if threshold is not None:
        self._threshold = threshold
