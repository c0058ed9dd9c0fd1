from services.ids import CountingIds, CountingProcessIds, RandomIds, stable_id


def test_an_id_depends_on_its_scope_and_place_only() -> None:
    one, other = CountingIds(), CountingIds()
    other.uuid("stream")

    assert [one.uuid("message"), one.uuid("message")] == [
        other.uuid("message"),
        other.uuid("message"),
    ]
    assert one.uuid("message") != one.uuid("message")


def test_counted_ids_are_those_of_earlier_recordings() -> None:
    ids = CountingIds("s")

    assert [ids.uuid("message") for _ in range(3)] == [
        "65ebcf34-2e29-443a-9d39-b9a921a06a54",
        "00e664aa-b6dc-4014-be55-043ab66a60b0",
        "ece9a5c0-d9be-4760-941b-54e81dd3381c",
    ]


def test_counted_ids_have_the_form_of_version_4() -> None:
    text = CountingIds().uuid("x")

    assert len(text) == 36
    assert text[14] == "4"
    assert text[19] in "89ab"


def test_random_ids_differ() -> None:
    ids = RandomIds()

    assert ids.uuid("x") != ids.uuid("x")


def test_process_ids_count_by_first_sight() -> None:
    pids = CountingProcessIds()

    assert [pids.shown(900), pids.shown(31), pids.shown(900)] == [4242, 4243, 4242]


def test_the_environment_contexts_id_is_upstreams() -> None:
    assert stable_id("environment-context") == "d04923d38bb0f6017037e74183378ef4"
    assert stable_id("b", "a") == stable_id("a", "b")
