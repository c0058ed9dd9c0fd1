import pytest

from harness.mutants.naming import Names
from harness.mutants.places import places_of
from tests.harness.mutants.samples import module


def lines_needed(text: str, *, line: int, other: str = "", harness: str = "") -> list[set[int]]:
    """The sets of lines, one line of each needed by a run; those of `other` from 101 on."""
    sources = [
        module(text),
        module(other, "services.other"),
        module(harness, "harness.sample"),
    ]
    names = Names()
    for source in sources:
        names.read(source.file, source.tree.body)
    (place,) = (each for each in places_of(sources[0]) if each.line == line)
    return [
        {first + (100 if file == "services/other.py" else 0) for file, (first, _) in spans}
        for spans in names.readers(place)
    ]


def test_a_constant_is_read_where_functions_name_it() -> None:
    text = "LIMIT = 3\n\n\ndef go():\n    a()\n    return LIMIT\n"

    assert lines_needed(text, line=1, other="def more():\n    return LIMIT\n") == [{6, 102}]


def test_a_private_constant_is_read_in_its_module_only() -> None:
    text = "_LIMIT = 3\n\n\ndef go():\n    return _LIMIT\n"

    assert lines_needed(text, line=1, other="def more():\n    return _LIMIT\n") == [{5}]


def test_the_default_of_a_field_is_read_where_its_class_is_named() -> None:
    text = """
        @dataclass
        class A:
            limit: int = 3


        def go(x):
            print(x.limit)
            return A()
    """

    assert lines_needed(text, line=3) == [{8}]


def test_an_attribute_of_a_class_needs_a_line_with_either_name() -> None:
    text = """
        class A:
            limit = 3


        class B(A):
            pass


        def go(x):
            print(x.limit)
            return B()
    """

    assert lines_needed(text, line=2) == [{11}, {10}]


@pytest.mark.parametrize("base", ["pydantic.BaseModel", "Foreign"])
def test_the_code_of_others_may_read_an_attribute_without_naming_it(base: str) -> None:
    text = f"class A({base}):\n    limit = 3\n\n\ndef go(x):\n    x.limit\n    return A()\n"

    assert lines_needed(text, line=2) == [{7}]


def test_a_member_of_an_enum_is_read_where_it_is_named_or_the_enum_is_used_as_a_whole() -> None:
    text = """
        class Kind(StrEnum):
            ONE = "one"
            TWO = "two"


        def one():
            return Kind.ONE


        def two():
            return Kind.TWO


        def parsed(x):
            return Kind(x)
    """

    assert lines_needed(text, line=2) == [{7, 11, 15}, {7, 15}]


def test_a_table_of_an_enum_uses_it_as_a_whole() -> None:
    text = """
        class Kind(StrEnum):
            ONE = "one"


        TABLE = tuple(Kind)


        def go():
            return TABLE
    """

    assert lines_needed(text, line=2) == [{9}, {9}]


def test_a_class_that_the_harness_makes_is_always_read() -> None:
    text = "class A:\n    limit: int = 3\n"

    assert lines_needed(text, line=2, harness="def go():\n    return A()\n") == []


def test_what_a_function_reads_that_is_called_at_import_is_read_with_its_result() -> None:
    text = """
        LIMIT = 3


        def made():
            return {"limit": LIMIT}


        TABLE = made()


        def go():
            return TABLE
    """

    assert lines_needed(text, line=1) == [{5, 12}]


def test_a_default_of_a_parameter_is_read_by_the_body_of_its_function() -> None:
    text = "LIMIT = 3\n\n\ndef go(x=LIMIT):\n    a(x)\n"

    assert lines_needed(text, line=1) == [{5}]
