from services.compression.rebuild import rebuilt_turns
from services.ids import CountingIds
from services.prompts import ENVIRONMENT_CONTEXT_ID


def test_a_new_chat_begins_with_the_context_and_gives_all_else_new_ids() -> None:
    context = {"role": "user", "parts": [{"text": "<session_context>"}]}
    history = [{"role": "user", "parts": []}, {"role": "model", "parts": []}]
    expected = CountingIds()

    turns = rebuilt_turns(context, history, CountingIds())

    assert turns == [
        (ENVIRONMENT_CONTEXT_ID, context),
        (expected.uuid("message"), history[0]),
        (expected.uuid("message"), history[1]),
    ]
