import pytest

from harness.mutants.operators import Operator
from harness.mutants.places import Place, places_of
from harness.mutants.source import Source
from tests.harness.mutants.samples import module


def places(text: str) -> list[Place]:
    return list(places_of(module(text)))


@pytest.mark.parametrize(
    "text",
    [
        '"""A docstring."""\n',
        "import json\nfrom pathlib import Path\n",
        '__all__ = ["a"]\n',
        "class A:\n    __slots__ = ('x',)\n",
        "if TYPE_CHECKING:\n    x = 1\n",
        "Name: TypeAlias = 'dict[str, int]'\n",
        "T = TypeVar('T')\n",
        "logger = logging.getLogger('a')\n",
        "class A(Protocol):\n    def go(self) -> int:\n        return 1\n",
        "class A:\n    @abstractmethod\n    def go(self) -> int:\n        return 1\n",
        "@overload\ndef go(x: int) -> int:\n    return 1\n",
        "def go(x: 'int') -> 'int':\n    '''Says.'''\n    ...\n",
        "def go(x):\n    assert x > 1, 'never'\n",
        "def go(x):\n    logger.debug('said %s', x)\n",
        "def go(x):\n    x.state.log('said', f'{x} calls', {'calls': 1})\n",
        "def go(x):\n    x._log('said', f'{x} calls')\n    log_call(x, 'said')\n",
        "def go(x):\n    return Logged(name='said', body=f'{x} calls')\n",
        "def _logged(x, name):\n    lines = x.count + 1\n    x.state.log(name, f'{lines}')\n",
        "def log_call(x, name):\n    lines = x.count + 1\n    x.state.log(name, f'{lines}')\n",
        "@dataclass(frozen=True, slots=True)\nclass A:\n    '''Says.'''\n    x: int\n",
    ],
)
def test_what_is_no_behaviour_has_no_place(text: str) -> None:
    assert places(text) == []


def test_a_function_does_not_return_before_what_only_logs_at_its_end() -> None:
    text = """
        def go(x) -> None:
            x.end()
            if x.ended:
                logger.debug('over')
                return
            x.go()
    """
    changes = [change for place in places(text) for change in place.changes]

    assert sum(change.operator is Operator.RETURN_EARLY for change in changes) == 1


def test_lengths_that_cannot_differ_are_an_assertion() -> None:
    assert "False" not in _texts("def go(x, y):\n    return zip(x, y, strict=True)\n")
    assert "True" in _texts("def go(x, y):\n    return zip(x, y, strict=False)\n")
    assert "False" in _texts("def go(x, y):\n    return draw(x, y, strict=True)\n")


@pytest.mark.parametrize(
    "call",
    [
        "tasks.start(x, name='sent')",
        "group.create_task(x, name=f'{x}')",
        "field(compare=False, repr=False)",
    ],
)
def test_names_of_tasks_and_how_a_field_is_declared_are_no_behaviour(call: str) -> None:
    changed = _texts(f"def go(x):\n    return {call}\n")

    assert changed == [], "only the call as a whole has a place"
    assert _texts(f"def go(x):\n    return {call.replace('(', '(1, ')}\n"), "its value has one"


def _texts(text: str) -> list[str]:
    changes = [change for place in places(text) for change in place.changes]
    return [edit.text for change in changes for edit in change.edits]


def test_a_cast_has_a_place_in_what_it_casts_only() -> None:
    found = places("def go(x):\n    return cast('int', x[1])\n")

    assert [place.changes[0].edits[0].text for place in found] == ["2"]


def test_a_place_knows_its_function_and_the_outermost_one_around_it() -> None:
    text = """
        class A:
            def outer(self):
                def inner(x):
                    return x + 1
                return inner
    """

    (place,) = (each for each in places(text) if each.line == 4)

    assert place.qualname == "A.outer.<locals>.inner"
    assert place.function == "A.outer"
    assert not place.imported


@pytest.mark.parametrize(
    ("text", "name", "owner", "is_field"),
    [
        ("LIMIT = 3\n", "LIMIT", "", False),
        ("TABLE = {name: 3 for name in NAMES}\n", "TABLE", "", False),
        ("class A:\n    limit = 3\n", "limit", "A", False),
        ("class A:\n    limit: int = 3\n", "limit", "A", True),
    ],
)
def test_what_is_computed_at_import_names_what_it_binds(
    text: str, name: str, owner: str, is_field: bool
) -> None:
    (place,) = places(text)

    assert place.imported
    assert (set(place.names), place.owner, place.is_field) == ({name}, owner, is_field)


def test_the_default_of_a_parameter_is_computed_at_import_and_used_by_the_body() -> None:
    found = places("def go(\n    x=3,\n):\n    y = x\n    return y\n")

    default = found[0]
    assert default.imported
    assert default.lines == (4, 5)
    assert default.line == 2


def test_the_default_in_an_inner_function_is_computed_where_that_is_defined() -> None:
    found = places("def go():\n    def inner(x=3):\n        return x\n    return inner\n")

    (default,) = (each for each in found if each.changes[0].operator == "change-default")
    assert default.function == "go"
    assert default.lines == (2, 3)


def test_the_head_of_a_block_ends_before_the_block() -> None:
    found = places("def go(x, y):\n    if (\n        x\n        and y\n    ):\n        run()\n")

    assert {place.lines for place in found if "if" in place.statement} == {(2, 4)}


def test_formatted_texts_have_no_places_inside() -> None:
    found = places("def go(x):\n    return f'{x[1]}'\n")

    assert [place.changes[0].edits[0].text for place in found] == ["""(f'{x[1]}' "_")"""]


def test_offsets_count_characters_whatever_their_bytes() -> None:
    source = Source("a", "a.py", "def go(x):\n    return 'ä…', 1\n")

    texts = {
        source.text[edit.start : edit.end]
        for p in places_of(source)
        for c in p.changes
        for edit in c.edits
    }

    assert texts == {"'ä…'", "1"}
