"""Protobuf classes made from `development_tool.proto`, which is the specification's own text.

They know nothing of our models, and read JSON by protobuf's own rules.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory, struct_pb2
from google.protobuf.json_format import MessageToDict, ParseDict
from google.protobuf.message import Message

__all__ = ["FILE", "MESSAGES", "declared", "is_valid", "parsed"]

FILE: Final = Path(__file__).with_name("development_tool.proto")
_PACKAGE: Final = "development_tool"
_Field: Final = descriptor_pb2.FieldDescriptorProto
_SCALARS: Final = {
    "string": _Field.TYPE_STRING,
    "bool": _Field.TYPE_BOOL,
    "int32": _Field.TYPE_INT32,
}
_STRUCT: Final = "google.protobuf.Struct"
_EMPTY: Final[tuple[Any, ...]] = ("", [], {}, False)
_TOKENS: Final = re.compile(r"[\w.]+|[{}=;]")


def declared(text: str) -> dict[str, tuple[str, ...]]:
    """The names of the fields of each message, and of the values of each enumeration."""
    file = parsed(text)
    found = {each.name: tuple(field.name for field in each.field) for each in file.message_type}
    enums = [*file.enum_type, *(enum for each in file.message_type for enum in each.enum_type)]
    return {**found, **{enum.name: tuple(value.name for value in enum.value) for enum in enums}}


def is_valid(name: str, document: Any) -> bool:
    """Check that `document` is the JSON of message `name`, with nothing unknown or left out.

    Raises:
        ParseError: it has another shape.
        AssertionError: protobuf would write it otherwise.
    """
    read = MESSAGES[name]()
    ParseDict(document, read)
    written = MessageToDict(read, always_print_fields_with_no_presence=True)
    assert _pruned(document) == _pruned(written)
    return True


def _pruned(value: Any) -> Any:
    """The same without empty values, which JSON may leave out; null is none of them."""
    if isinstance(value, dict):
        pruned = {key: _pruned(each) for key, each in value.items()}
        return {
            key: each
            for key, each in pruned.items()
            if each is None or each not in ("", [], {}, False)
        }
    return [_pruned(each) for each in value] if isinstance(value, list) else value


class _Parser:
    """Reads the parts of the language that the specification uses."""

    def __init__(self, text: str) -> None:
        text = re.sub(r"//.*|^(syntax|package|import).*;", "", text, flags=re.MULTILINE)
        self._tokens = _TOKENS.findall(text)
        self._at = 0
        self.file = descriptor_pb2.FileDescriptorProto(
            name=f"{_PACKAGE}.proto",
            package=_PACKAGE,
            syntax="proto3",
            dependency=["google/protobuf/struct.proto"],
        )

    def parse(self) -> descriptor_pb2.FileDescriptorProto:
        while self._at < len(self._tokens):
            if self._next() == "enum":
                self._enum(self.file.enum_type.add())
            else:
                self._message(self.file.message_type.add())
        return self.file

    def _next(self) -> str:
        self._at += 1
        return str(self._tokens[self._at - 1])

    def _enum(self, enum: descriptor_pb2.EnumDescriptorProto) -> None:
        enum.name, _ = self._next(), self._next()
        while (name := self._next()) != "}":
            number = [self._next() for _ in range(3)][1]
            enum.value.add(name=name, number=int(number))

    def _message(self, message: descriptor_pb2.DescriptorProto) -> None:
        message.name, _ = self._next(), self._next()
        while (word := self._next()) != "}":
            if word == "enum":
                self._enum(message.enum_type.add())
            elif word == "oneof":
                message.oneof_decl.add(name=self._next())
                self._next()
                while (kind := self._next()) != "}":
                    self._field(message, kind).oneof_index = len(message.oneof_decl) - 1
            else:
                self._labelled(message, word)
        # Those of single fields come after those with names, as protoc orders them.
        for field in message.field:
            if field.proto3_optional:
                field.oneof_index = len(message.oneof_decl)
                message.oneof_decl.add(name=f"_{field.name}")

    def _labelled(self, message: descriptor_pb2.DescriptorProto, word: str) -> None:
        labelled = word in ("optional", "repeated")
        field = self._field(message, self._next() if labelled else word)
        if word == "repeated":
            field.label = _Field.LABEL_REPEATED
        field.proto3_optional = word == "optional"

    def _field(
        self, message: descriptor_pb2.DescriptorProto, kind: str
    ) -> descriptor_pb2.FieldDescriptorProto:
        name, _, number, _ = (self._next() for _ in range(4))
        field = message.field.add(name=name, number=int(number), label=_Field.LABEL_OPTIONAL)
        if kind in _SCALARS:
            field.type = _SCALARS[kind]
        else:
            field.type_name = kind
        return field


def parsed(text: str) -> descriptor_pb2.FileDescriptorProto:
    """What a proto text declares."""
    file = _Parser(text).parse()
    enums = {enum.name: f".{_PACKAGE}.{enum.name}" for enum in file.enum_type}
    for message in file.message_type:
        inner = {enum.name: f".{_PACKAGE}.{message.name}.{enum.name}" for enum in message.enum_type}
        for field in message.field:
            kind = field.type_name
            if kind in inner or kind in enums:
                field.type, field.type_name = _Field.TYPE_ENUM, {**enums, **inner}[kind]
            elif kind:
                field.type = _Field.TYPE_MESSAGE
                field.type_name = f".{kind}" if kind == _STRUCT else f".{_PACKAGE}.{kind}"
    return file


def _classes(file: descriptor_pb2.FileDescriptorProto) -> dict[str, type[Message]]:
    pool = descriptor_pool.DescriptorPool()
    struct = descriptor_pb2.FileDescriptorProto()
    struct_pb2.DESCRIPTOR.CopyToProto(struct)
    pool.Add(struct)
    pool.Add(file)
    return dict(_found(pool, file))


def _found(
    pool: descriptor_pool.DescriptorPool, file: descriptor_pb2.FileDescriptorProto
) -> Iterator[tuple[str, type[Message]]]:
    for each in file.message_type:
        described = pool.FindMessageTypeByName(f"{_PACKAGE}.{each.name}")
        yield each.name, message_factory.GetMessageClass(described)


MESSAGES: Final = _classes(parsed(FILE.read_text()))
"""The class of each message."""
