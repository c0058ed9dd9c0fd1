"""Section 3.2, "Client-to-Agent Messages": answers to the questions of tools."""

from typing import Any

import pytest

from tests.surfaces.a2a.conftest import Json, Peer, Serve
from tests.surfaces.a2a.extension.client import asked, folded, played, updates
from tests.surfaces.headless.conftest import calls, chunk, says

COLOUR = {
    "question": "Which colour?",
    "header": "Colour",
    "type": "choice",
    "options": [
        {"label": "Red", "description": "Warm"},
        {"label": "Blue", "description": "Cold"},
    ],
}
SURE = {"question": "Sure?", "header": "Sure", "type": "yesno"}
NAME = {"question": "Which name?", "header": "Name", "type": "text", "placeholder": "short"}
ASKS = ("STATE_CHANGE", "input-required", True)
COMPLETED = ("STATE_CHANGE", "completed", True)


async def answered(peer: Peer, events: list[Any], *options: str, text: str = "") -> list[Any]:
    """The events after the question of the last call is answered."""
    call = updates(events)[-1]
    task = events[0].get("taskId") or events[0]["id"]
    parts: list[str | Json] = [
        {"toolCallId": call.tool_call_id, "selectedOptionId": option} for option in options
    ]
    if text:
        parts.append(text)
    return await played(peer, asked(peer, *parts, task=task))


def offered(events: list[Any]) -> dict[str, str]:
    """Id and name of each option of the last question."""
    request = updates(events)[-1].confirmation_request
    assert request is not None
    return {option.id: option.name for option in request.options}


def result_of(events: list[Any]) -> str:
    """What the user reads about the last call."""
    output = updates(events)[-1].output
    assert output is not None
    return str(output.text)


@pytest.mark.parametrize(
    ("question", "options", "text", "shown"),
    [
        (COLOUR, ["option_2"], "", "Colour → Blue"),
        (COLOUR, ["answer"], "Green", "Colour → Green"),
        ({**COLOUR, "multiSelect": True}, ["option_1", "option_2"], "", "Colour → Red, Blue"),
        (SURE, ["option_1"], "", "Sure → Yes"),
        (SURE, ["option_2"], "", "Sure → No"),
        (NAME, ["answer"], "Ada", "Name → Ada"),
    ],
)
async def test_3_2_client_to_agent_messages_answer_a_question_of_ask_user(
    serve: Serve, question: Json, options: list[str], text: str, shown: str
) -> None:
    async with serve(calls("ask_user", questions=[question]), says("done")) as peer:
        first = await played(peer, asked(peer, "go"))
        request = updates(first)[-1].confirmation_request
        second = await answered(peer, first, *options, text=text)

        assert request is not None
        assert request.generic_details is not None
        assert question["question"] in request.generic_details.description
        assert "cancel" in offered(first)
        assert shown in result_of(second)
        assert folded(second)[-1] == COMPLETED


async def test_3_2_client_to_agent_messages_answer_several_questions_in_turn(serve: Serve) -> None:
    async with serve(calls("ask_user", questions=[COLOUR, SURE, NAME]), says("done")) as peer:
        first = await played(peer, asked(peer, "go"))
        second = await answered(peer, first, "option_1")
        third = await answered(peer, second, "skip")
        last = await answered(peer, third, "answer", text="Ada")

        assert offered(first)["option_2"] == "Blue"
        assert folded(second)[-1] == ASKS
        assert offered(second)["option_1"] == "Yes"
        assert "option_1" not in offered(third)
        assert updates(third)[-1].status == "PENDING"
        assert "Colour → Red" in result_of(last)
        assert "Sure" not in result_of(last)
        assert "Name → Ada" in result_of(last)
        assert folded(last)[-1] == COMPLETED


async def test_3_2_client_to_agent_messages_refuse_a_question(serve: Serve) -> None:
    async with serve(calls("ask_user", questions=[COLOUR, SURE])) as peer:
        first = await played(peer, asked(peer, "go"))
        second = await answered(peer, first, "option_1")
        last = await answered(peer, second, "cancel")

        assert updates(last)[-1].status == "CANCELLED"
        assert folded(last)[-1] == COMPLETED


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["option_3"], "choose one of option_1"),
        (["proceed_once"], "choose one of option_1"),
        (["option_1", "option_2"], "Choose one option"),
        (["answer"], "wants an answer"),
    ],
)
async def test_3_2_client_to_agent_messages_a_wrong_answer_leaves_the_question_open(
    serve: Serve, options: list[str], words: str
) -> None:
    async with serve(calls("ask_user", questions=[COLOUR]), says("done")) as peer:
        first = await played(peer, asked(peer, "go"))
        (error,) = await answered(peer, first, *options)
        second = await answered(peer, first, "option_1")

        assert error["code"] == -32602
        assert words in error["message"]
        assert "Red" in result_of(second)


@pytest.mark.parametrize(
    ("option", "text", "shown"),
    [
        ("proceed_once", "", "Plan approved"),
        ("proceed_auto_edit", "", "Plan approved"),
        ("feedback", "Shorter, please", "Feedback: Shorter, please"),
    ],
)
async def test_3_2_client_to_agent_messages_decide_about_a_plan(
    serve: Serve, option: str, text: str, shown: str
) -> None:
    plan = calls("write_file", file_path="p.md", content="Do it.")
    asks = chunk(
        {"functionCall": {"name": "exit_plan_mode", "args": {"plan_filename": "p.md"}, "id": "c2"}}
    )
    async with serve(says("ready"), plan, asks, says("done")) as peer:
        task = (await played(peer, asked(peer, "hi")))[0]["id"]
        switched = await peer.rpc("command/execute", commandPath=["plan"], taskId=task)
        first = await played(peer, asked(peer, "go", task=task))
        second = await answered(peer, first, option, text=text)
        live = peer.tasks.get_open(task)

        assert switched["result"]["status"] == "STARTED"
        assert "p.md" in str(updates(first)[-1].confirmation_request)
        assert shown in result_of(second)
        assert live is not None
        mode = str(live.live.services.state.approval_mode)
        assert mode == {"proceed_once": "default", "proceed_auto_edit": "autoEdit"}.get(
            option, "plan"
        )


async def test_3_2_client_to_agent_messages_answer_calls_that_ask_at_once(serve: Serve) -> None:
    both = [
        {"functionCall": {"name": "ask_user", "args": {"questions": [each]}, "id": each["header"]}}
        for each in (COLOUR, SURE)
    ]
    async with serve(chunk(*both), says("done")) as peer:
        first = await played(peer, asked(peer, "go"))
        task, call = first[0]["id"], updates(first)[0]
        answer = {"toolCallId": call.tool_call_id, "selectedOptionId": "option_1"}
        second = await played(peer, asked(peer, answer, task=task))
        asks = [each for each in updates(first[1:] + second) if each.confirmation_request]
        last = await answered(peer, second, "option_2")

        # The second call may ask after the first turn has ended, and no stream was open then.
        assert {each.tool_call_id for each in asks} > {call.tool_call_id}
        assert folded(second)[-1] == ASKS
        assert [str(each.status) for each in updates(last)].count("SUCCEEDED") == 2
        assert folded(last)[-1] == COMPLETED
