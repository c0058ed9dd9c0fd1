"""Faults of the services in compression."""

from __future__ import annotations

from typing import Any

from seeded_faults import Behaviour, Faults, Site
from seeded_faults.altered import Altered
from seeded_faults.wrappers import changed, during, instead, result, returns

held_out = Faults(Site.SERVICE, Behaviour.CONTEXT, held_out=True)


def _keeping_first_answer(model: Any) -> Altered:
    """`model`, which is asked each time and gives its first answer each time."""
    answers: list[Any] = []

    async def generate_content(request: Any) -> Any:
        answers.append(await model.generate_content(request))
        return answers[0]

    return Altered(model, generate_content=generate_content)


summary_unacknowledged = held_out.wrap(
    "services.compression.service:_turns",
    result(lambda found: found[:1]),
    says="After a compression the model has not answered the summary.",
    origin="a summary that is put in the place of turns, one for all",
)
earlier_snapshot_unnoticed = held_out.wrap(
    "services.compression.service:_has_snapshot",
    returns(False),
    says="A second summary is asked for as if there had been none before.",
    origin="a prompt built before the history is looked at",
)
forced_failure_counts = held_out.wrap(
    "services.compression.service:ChatCompressionService._judged",
    instead(lambda judged, self, *args: judged(self, *args[:-1], False)),
    says="Where a compression that a user asked for fails, none is made unasked any more.",
    origin="a flag set wherever a compression fails",
)
failed_compression_outlives_chat = held_out.wrap(
    "services.compression.service:ChatCompressionService.chat_started",
    returns(None),
    says="What failed in one chat keeps the next one from being summarised.",
    origin="a service that lives longer than the chats it serves",
)
one_model_summarises_all = held_out.wrap(
    "services.compression.service:_CONFIG_KEYS",
    lambda _: {},
    says="Conversations with any model are summarised by the same one.",
    origin="a table of configurations that was not carried over",
)
split_counts_turns = held_out.wrap(
    "services.compression.budget:js_length",
    returns(1),
    says="What a compression keeps is a share of the turns, whatever their length.",
    origin="a compactor with a window of events",
)
summary_weighed_alone = held_out.wrap(
    "services.compression.service:ChatCompressionService._judged",
    during("_session_context", lambda: {"role": "user", "parts": []}),
    says="Whether a summary is shorter is judged without the context that goes before it.",
    origin="a comparison of texts for one of requests",
)


improved_summary_thrown_away = held_out.wrap(
    "services.compression.service:ChatCompressionService._summarise",
    changed("_model", _keeping_first_answer),
    says="The model is asked what its summary left out, and its answer is not used.",
    origin="the older of two variables returned",
)


@held_out(
    "services.compression.service:ChatCompressionService.__init__", origin="`is None` for `or`"
)
def zero_threshold_taken_literally(prepare: Any, /, self: Any, session: Any, **seams: Any) -> None:
    """A threshold of 0 has every request compress what is there, not half a window."""
    prepare(self, session, **seams)
    threshold = session.settings.compression_threshold
    if threshold is not None:
        self._threshold = threshold
