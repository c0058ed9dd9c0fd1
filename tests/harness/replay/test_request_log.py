from harness.prefixes import shared_prefix
from harness.replay.observation import RunPaths
from harness.replay.request_log import RequestLog
from services.model.generator import LlmRole
from tests.harness.samples import ask, conversation, model, paths, user

STREAM = "generateContentStream"


def test_a_request_is_its_difference_from_the_one_before() -> None:
    log, contents = RequestLog(paths()), conversation()
    first = log.observe(STREAM, ask(contents[:1]))
    second = log.observe(STREAM, ask(contents[:3]))

    assert (first.same_as_previous, first.new_contents) == (0, tuple(contents[:1]))
    assert (second.same_as_previous, second.new_contents) == (1, tuple(contents[1:3]))
    assert second.new_contents[0] is contents[1]
    assert second.contents_count == 3


def test_copies_count_as_the_same_content() -> None:
    log = RequestLog(paths())
    log.observe(STREAM, ask(conversation()[:2]))

    assert log.observe(STREAM, ask(conversation()[:3])).same_as_previous == 2


def test_a_rewritten_history_starts_where_it_differs() -> None:
    log, contents = RequestLog(paths()), conversation()
    log.observe(STREAM, ask(contents))
    seen = log.observe(STREAM, ask([contents[0], model("short"), user("go on")]))

    assert seen.same_as_previous == 1
    assert seen.contents_count == 3


def test_the_digest_is_of_the_whole_contents_however_they_came_about() -> None:
    step, whole, other = (RequestLog(paths()) for _ in range(3))
    contents = conversation()
    step.observe(STREAM, ask(contents[:1]))
    by_steps = step.observe(STREAM, ask(contents))
    at_once = whole.observe(STREAM, ask(conversation()))
    changed = other.observe(STREAM, ask([*contents[:3], model("else")]))

    assert by_steps.digest == at_once.digest != changed.digest


def test_the_digests_do_not_know_where_the_run_was() -> None:
    config = {**ask([]).config, "systemInstruction": "You work in /tmp/run-b/ws."}
    here = RequestLog(paths()).observe(STREAM, ask(conversation()))
    there = RequestLog(paths("/tmp/run-b")).observe(
        STREAM, ask(conversation(base="/tmp/run-b"), config=config)
    )

    assert (here.digest, here.system_digest) == (there.digest, there.system_digest)


def test_roles_and_threads_have_lineages_of_their_own() -> None:
    log, contents = RequestLog(paths()), conversation()
    log.observe(STREAM, ask(contents[:1]))
    log.observe("generateContent", ask([user("route")], role=LlmRole.UTILITY_ROUTER))
    log.observe(STREAM, ask([user("child")], thread="0/0"))

    assert log.observe(STREAM, ask(contents[:2])).same_as_previous == 1


def test_tools_and_instruction_are_kept_once() -> None:
    log = RequestLog(paths())
    one = log.observe(STREAM, ask([user("a")]))
    two = log.observe(STREAM, ask([user("b")]))

    assert one.tools == ("read_file", "glob")
    assert one.tools is two.tools
    assert one.system_instruction is two.system_instruction
    assert one.config == {"temperature": 1}


def test_a_request_without_tools_and_instruction_has_neither() -> None:
    seen = RequestLog(paths()).observe(STREAM, ask([user("a")], config={}))

    assert (seen.tools, seen.tools_digest, seen.system_digest) == ((), None, None)


def test_tools_of_the_api_itself_are_named_by_their_key() -> None:
    config = {"tools": [{"googleSearch": {}}, {"functionDeclarations": [{"name": "x"}]}]}
    seen = RequestLog(paths()).observe(STREAM, ask([user("a")], config=config))

    assert seen.tools == ("googleSearch", "x")


def test_a_shared_prefix_is_found_by_value_too() -> None:
    assert shared_prefix([], [user("a")]) == 0
    assert shared_prefix([user("a"), user("b")], [user("a"), user("c")]) == 1
    assert shared_prefix([user("a"), user("b")], [user("a")]) == 1


def test_the_longest_path_is_replaced_first() -> None:
    where = RunPaths(workspace="/t/home/ws", home="/t/home", cassettes="/t")

    assert (
        where.mask_text("/t/home/ws/a /t/home/b /t/c /tmp")
        == "<WS>/a <HOME>/b <CASSETTES>/c <CASSETTES>mp"
    )
    assert RunPaths(workspace="/w", home="/h", cassettes="/").mask_text("a/b") == "a/b"


def test_the_project_hash_is_replaced() -> None:
    import hashlib

    where = RunPaths(workspace="/tmp/ä/ws", home="/tmp/ä/home")
    digest = hashlib.sha256("/tmp/ä/ws".encode()).hexdigest()

    assert where.mask_text(f"{digest} /tmp/ä/ws") == "<PROJECT_HASH> <WS>"
    assert where.mask_json('"/tmp/\\u00e4/ws"') == '"<WS>"'


def test_each_request_is_read_as_the_api_would() -> None:
    log, contents = RequestLog(paths()), conversation()
    requests = [log.observe(STREAM, ask(contents[:count])) for count in (1, 2, 2)]

    assert [[each.rule for each in request.provider] for request in requests] == [
        [],
        ["call-unanswered"],
        [],
    ]


def test_requests_that_count_tokens_are_not_checked() -> None:
    log = RequestLog(paths())

    assert log.observe("countTokens", ask(conversation()[2:])).provider == ()
    assert log.observe(STREAM, ask(conversation()[2:])).provider != ()
