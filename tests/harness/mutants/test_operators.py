import ast

import pytest

from tests.harness.mutants.samples import changed_lines, module, mutants_of


def in_function(body: str, head: str = "def run(self, first, second, items) -> int:") -> str:
    lines = "\n".join(f"    {line}" for line in body.splitlines())
    return f"{head}\n{lines}\n    return first\n"


@pytest.mark.parametrize(
    ("body", "operator", "expected"),
    [
        ("if first:\n    go()", "negate-condition", ["if (not (first)):"]),
        ("if not first:\n    go()", "negate-condition", ["if (first):"]),
        ("while first:\n    go()", "negate-condition", ["while (not (first)):"]),
        ("x = 1 if first else 2", "negate-condition", ["x = 1 if (not (first)) else 2"]),
        ("x = first == second", "negate-condition", ["x = (first != second)"]),
        ("x = first in items", "negate-condition", ["x = (first not in items)"]),
        ("x = first is None", "negate-condition", ["x = (first is not None)"]),
        ("x = not first", "negate-condition", ["x = bool(first)"]),
        (
            "x = [i for i in items if i]",
            "negate-condition",
            ["x = [i for i in items if (not (i))]"],
        ),
        ("if first:\n    go()", "drop-condition", ["if True:", "if False:"]),
        ("if first:\n    go()\nelse:\n    stay()", "drop-condition", ["if True:"]),
        ("while first:\n    go()", "drop-condition", ["while False:"]),
        ("x = first and second", "drop-condition", ["x = ((second))", "x = ((first))"]),
        ("x = first or second", "drop-condition", ["x = ((second))", "x = ((first))"]),
        ("x = first < second", "off-by-one", ["x = (first <= second)"]),
        ("x = first >= second", "off-by-one", ["x = (first > second)"]),
        ("x = items[3:]", "off-by-one", ["x = items[4:]", "x = items[2:]"]),
        ("x = items[0]", "off-by-one", ["x = items[1]"]),
        ("self.go(first)", "drop-statement", ["pass"]),
        ("first = 3", "drop-statement", ["pass"]),
        ("for i in items:\n    continue", "drop-statement", ["pass"]),
        ("if first:\n    raise ValueError", "drop-statement", ["pass"]),
        ("await first", "drop-await", ["first"]),
        ("go(first, second)", "swap-arguments", ["go(second, first)"]),
        ("go(first, first)", "swap-arguments", []),
        ("x = min(first, 3)", "swap-arguments", []),
        ("x = self.max(first, 3)", "swap-arguments", ["x = self.max(3, first)"]),
        ("x = 'text'", "change-constant", ["x = 'text_'"]),
        ("x = f'{first}!'", "change-constant", ["""x = (f'{first}!' "_")"""]),
        ("x = True", "change-constant", ["x = False"]),
        ("x = 1.5", "change-constant", ["x = 3.0"]),
        ("self.x = None", "skip-reset", ["pass"]),
        ("self.x.clear()", "skip-reset", ["pass"]),
        ("del items[first]", "skip-reset", ["pass"]),
        ("self.a(first)\nself.b = 1", "swap-statements", ["self.b = 1"]),
        ("self.a = first\nself.b = [1]", "swap-statements", []),
        ("self.a = go()\n'what a is'\nself.b = 1", "swap-statements", []),
        ("x = list(items)", "forget-copy", ["x = items"]),
        ("x = items.copy()", "forget-copy", ["x = items"]),
        ("x = [*items]", "forget-copy", ["x = items"]),
        ("x = {**items}", "forget-copy", ["x = items"]),
        ("x = [*items, 1]", "forget-copy", []),
    ],
)
def test_an_operator_changes_what_its_name_says(
    body: str, operator: str, expected: list[str]
) -> None:
    head = "async def run(self, first, second, items) -> int:"

    assert changed_lines(in_function(body, head), operator) == expected


@pytest.mark.parametrize(
    ("handled", "expected"),
    [
        ("(KeyError, ValueError)", ["except (ValueError,):", "except (KeyError,):"]),
        ("KeyError", ["except ():"]),
        ("(KeyError, ValueError) as error", ["except (ValueError,) as error:"]),
    ],
)
def test_a_handler_loses_one_of_its_types(handled: str, expected: list[str]) -> None:
    body = f"try:\n    go()\nexcept {handled}:\n    stay()"

    found = changed_lines(in_function(body), "drop-exception-type")

    assert found[: len(expected)] == expected


def test_suppress_loses_one_of_its_types() -> None:
    body = "with suppress(KeyError, ValueError):\n    go()"

    assert changed_lines(in_function(body), "drop-exception-type") == [
        "with suppress(ValueError):",
        "with suppress(KeyError):",
    ]


def test_the_body_of_a_finally_is_left_out_as_a_whole() -> None:
    text = in_function("try:\n    go()\nfinally:\n    close()\n    end()")
    source = module(text)

    (mutant,) = (each for each in mutants_of(source) if each.operator == "skip-finally")

    assert mutant.text(source).splitlines()[3:6] == ["    finally:", "        pass", ""]


def test_a_function_that_returns_nothing_returns_before_each_statement_but_first_and_last() -> None:
    text = """
        def run(self) -> None:
            self.first()
            if self.ready:
                self.second()
            self.third()
    """

    assert changed_lines(text, "return-early") == ["return", "return"]
    assert "return" not in module(text).text


def test_nothing_returns_before_an_elif() -> None:
    text = """
        def run(self) -> None:
            if self.ready:
                self.first()
            elif self.late:
                self.second()
            else:
                self.third()
            self.fourth()
    """
    source = module(text)
    early = [each for each in mutants_of(source) if each.operator == "return-early"]

    assert [each.place.line for each in early] == [3, 5, 7]
    for mutant in early:
        ast.parse(mutant.text(source))


@pytest.mark.parametrize(
    ("annotation", "expected"),
    [
        ("str | None", ["return None"]),
        ("list[str]", ["return []"]),
        ("str", ['return ""']),
        ("dict[str, int]", ["return {}"]),
        ("Answer", []),
    ],
)
def test_a_function_that_returns_a_value_returns_nothing_instead(
    annotation: str, expected: list[str]
) -> None:
    text = f"def run(self) -> {annotation}:\n    return self.value\n"

    assert changed_lines(text, "return-early") == expected


def test_a_generator_does_not_return_early() -> None:
    text = "def run(self) -> None:\n    self.a()\n    yield\n    self.b()\n    self.c()\n"

    assert changed_lines(text, "return-early") == []


def test_a_name_that_is_not_bound_before_keeps_its_statement() -> None:
    text = in_function("x = go()\nstay(x)")

    assert changed_lines(text, "drop-statement") == ["pass"]  # stay(x) alone


def test_a_statement_that_needs_the_one_before_it_keeps_its_place() -> None:
    text = in_function("x = self.go()\nself.stay(x)")

    assert changed_lines(text, "swap-statements") == []


def test_defaults_of_parameters_and_fields_are_changed() -> None:
    text = """
        class Options:
            retries: int = 3
            quiet: bool = False

        def run(limit: int = 1, *, name: str = "a") -> int:
            return limit
    """

    assert changed_lines(text, "change-default") == [
        "retries: int = 4",
        "retries: int = 2",
        "quiet: bool = True",
        'def run(limit: int = 2, *, name: str = "a") -> int:',
        'def run(limit: int = 0, *, name: str = "a") -> int:',
        "def run(limit: int = 1, *, name: str = 'a_') -> int:",
    ]


def test_a_change_of_several_lines_leaves_the_lines_below_where_they_are() -> None:
    text = in_function("x = (\n    first\n    and second\n)\ny = 1")
    source = module(text)

    for mutant in mutants_of(source):
        if mutant.operator == "drop-condition":
            assert mutant.text(source).splitlines()[5] == "    y = 1"


def test_every_mutant_of_a_module_compiles() -> None:
    source = module(
        """
        import asyncio

        LIMIT: int = 3

        class Runner:
            name: str = "x"

            async def run(self, items: list[str], *, deep: bool = False) -> str | None:
                found = [item for item in items if item and not deep]
                try:
                    async with self.lock as held, self.other:
                        await held.go(items[0], len(items) - 1)
                        self.state = None
                except (OSError, ValueError) as error:
                    raise RuntimeError(f"no {error!r} of {items}") from error
                finally:
                    self.items.clear()
                    self.done = True
                match found:
                    case [one] if one > "a" and deep:
                        return one
                    case _:
                        pass
                return (
                    "many"
                    if len(found) > LIMIT
                    else None
                )
        """
    )
    mutants = list(mutants_of(source))

    assert len({mutant.operator for mutant in mutants}) >= 10
    for mutant in mutants:
        ast.parse(mutant.text(source))


def test_a_condition_over_several_lines_keeps_their_number() -> None:
    source = module(in_function("if first and second(\n    items\n):\n    go()"))
    changed = [
        mutant.text(source)
        for mutant in mutants_of(source)
        if mutant.operator in ("drop-condition", "negate-condition")
    ]

    assert changed
    for text in changed:
        ast.parse(text)
        assert text.count("\n") == source.text.count("\n")


@pytest.mark.parametrize(
    ("name", "one", "second", "swaps"),
    [
        ("__init__", "[]", "made(first)", 0),
        ("__init__", "[]", "made(self)", 1),
        ("__init__", "[]", "self.made(first)", 1),
        ("__init__", "[*first]", "{**first.more}", 0),
        ("__init__", "[*first]", "self.more", 1),
        ("__init__", "[*first]", "made(first)", 1),
        ("begin", "[]", "made(first)", 1),
        ("begin", "[*first]", "{**first.more}", 1),
    ],
)
def test_what_fills_a_new_object_has_no_order(name: str, one: str, second: str, swaps: int) -> None:
    body = f"        self.a = {one}\n        self.b = {second}\n"
    text = f"class A:\n    def {name}(self, first):\n{body}"
    assert len(changed_lines(text, "swap-statements")) == swaps


@pytest.mark.parametrize(
    ("name", "called", "swaps"),
    [
        ("__init__", "super().__init__(first)", 0),
        ("__init__", "Base.__init__(self, first)", 0),
        ("__init__", "super().open(first)", 1),
        ("open", "super().__init__(first)", 1),
    ],
)
def test_what_a_base_fills_has_no_order_either(name: str, called: str, swaps: int) -> None:
    text = f"class A:\n    def {name}(self, first):\n        {called}\n        self.b = first\n"
    assert len(changed_lines(text, "swap-statements")) == swaps
