"""Stands in for `driver.mjs`: `python stand_in_driver.py BEHAVIOUR PIPES`.

It says `ready`, does what every command asks with the least that makes a session, and strays from
that where its behaviour says so.
"""

import json
import os
import signal
import sys
from collections.abc import Callable
from typing import Any

INBOX, OUTBOX, REPLIES, LIFELINE, STARTED = map(int, sys.argv[-1].split(","))
TIME = "2026-01-01T00:00:00.000Z"
Message = dict[str, Any]


def say(message: object) -> None:
    write(json.dumps(message).encode() + b"\n")


def write(data: bytes) -> None:
    while data:
        data = data[os.write(OUTBOX, data) :]


def event(kind: str, number: int, **fields: object) -> Message:
    common = {"id": f"e{number}", "timestamp": TIME, "streamId": "s1", "type": kind}
    return {"t": "event", "agent": 0, "event": {**common, **fields}}


USER = event("message", 0, role="user", content=[{"type": "text", "text": "x"}])
START = event("agent_start", 1)
END = event("agent_end", 2, reason="completed")
REQUEST = {
    "t": "request",
    "id": 1,
    "method": "generateContentStream",
    "model": "m",
    "role": "main",
    "promptId": "p",
    "same": 0,
    "contents": [{"role": "user", "parts": [{"text": "x"}]}],
    "config": {},
    "changed": {},
}


def last_words() -> None:
    sys.stderr.write("these are the last words\n")
    sys.stderr.flush()


def die() -> None:
    last_words()
    os.kill(os.getpid(), signal.SIGKILL)


def wait_for_the_end() -> None:
    """As the lifeline's watcher does: until Python lets go."""
    last_words()
    os.read(LIFELINE, 1)
    sys.exit(0)


class Driver:
    """One session after another. `stream` is what a send makes happen."""

    def __init__(
        self, stream: Callable[["Driver"], None], *, refuses: str = "", **closed: Any
    ) -> None:
        self.stream = stream
        self.refuses = refuses
        self.closed = {"dirty": [], "memory": 1 << 20, **closed}
        self.sessions = 0
        self.received = 0
        self.heard = b""
        self.answers = b""

    def call(self, message: Message) -> None:
        """Say a message that wants a reply, and perform the commands that come with it."""
        say({**message, "reply": True})
        while b"\n" not in self.answers:
            self.answers += os.read(REPLIES, 1 << 16)
        line, _, self.answers = self.answers.partition(b"\n")
        for command in json.loads(line)["commands"]:
            self.perform(command)

    def hear(self) -> Message:
        while b"\n" not in self.heard:
            block = os.read(INBOX, 1 << 16)
            if not block:
                sys.exit(0)
            self.heard += block
        line, _, self.heard = self.heard.partition(b"\n")
        self.received += 1
        message: Message = json.loads(line)
        return message

    def perform(self, command: Message) -> None:
        self.sessions += command["t"] == "open"
        if command["t"] == self.refuses:
            error = {"name": "TypeError", "message": "I will not"}
            say({"t": "failed", "id": command["id"], **error})
            return
        values: dict[str, Any] = {
            "open": {"message": None, "context": None},
            "send": "s1",
            "transcript": [],
            "close": self.closed,
        }
        if "id" in command and command["t"] != "answer":
            say({"t": "done", "id": command["id"], "value": values.get(command["t"])})
        if command["t"] == "send":
            self.stream(self)

    def serve(self) -> None:
        say({"t": "ready", "node": "20.0.0"})
        while True:
            self.perform(self.hear())
            if b"\n" not in self.heard:
                say({"t": "idle", "received": self.received})


def whole_stream(driver: Driver) -> None:
    for message in (USER, START, END):
        driver.call(message)


def straying(*said: Callable[[], None]) -> Callable[[Driver], None]:
    """A stream that begins well and goes astray."""

    def stream(driver: Driver) -> None:
        driver.call(USER)
        driver.call(START)
        for each in said:
            each()
        wait_for_the_end()

    return stream


def asks_and_dies(driver: Driver) -> None:
    driver.call(USER)
    driver.call(START)
    driver.call(REQUEST)
    die()


def dies_in_its_call(driver: Driver) -> None:
    driver.call(USER)
    say({**START, "reply": True})
    die()


def dies_in_its_second_session(driver: Driver) -> None:
    if driver.sessions > 1:
        dies_in_its_call(driver)
    sys.stderr.write("said in the first session\n")
    sys.stderr.flush()
    whole_stream(driver)


def in_bytes(driver: Driver) -> None:
    """Every message cut at every byte."""
    for message in (USER, START, END):
        line = json.dumps(message).encode() + b"\n"
        for at in range(len(line)):
            write(line[at : at + 1])


def in_a_long_line(driver: Driver) -> None:
    """A message of three megabytes, cut wherever the pipe is full."""
    driver.call(
        event("message", 0, role="user", content=[{"type": "text", "text": "y" * 3_000_000}])
    )
    driver.call(START)
    driver.call(END)


def exits_at_once() -> None:
    last_words()
    sys.exit(3)


def unusable(**fields: object) -> None:
    say({"t": "unusable", **fields})
    sys.exit(1)


def lets_go_of_its_pipes() -> None:
    last_words()
    for descriptor in (INBOX, OUTBOX, REPLIES):
        os.close(descriptor)
    while True:
        signal.pause()


def said(message: object) -> Callable[[], None]:
    return lambda: say(message)


BEHAVIOURS: dict[str, Callable[[], None]] = {
    "works": lambda: Driver(whole_stream).serve(),
    "in_bytes": lambda: Driver(in_bytes).serve(),
    "in_a_long_line": lambda: Driver(in_a_long_line).serve(),
    "dirty": lambda: Driver(whole_stream, dirty=["tool web_fetch"]).serve(),
    "grown": lambda: Driver(whole_stream, memory=2 << 30).serve(),
    "refuses_an_agent": lambda: Driver(whole_stream, refuses="agent").serve(),
    "exits_at_once": exits_at_once,
    "never_ready": wait_for_the_end,
    "silent": Driver(straying()).serve,
    "no_json": Driver(straying(lambda: write(b"Debugger listening\n"))).serve,
    "no_text": Driver(straying(lambda: write(b"\xff\xfe\x00\n"))).serve,
    "deep_json": Driver(straying(lambda: write(b"[" * 100_000 + b"\n"))).serve,
    "array": Driver(straying(said(["t", "idle"]))).serve,
    "unknown_kind": Driver(straying(said({"t": "greeting"}))).serve,
    "kind_is_a_list": Driver(straying(said({"t": ["idle"]}))).serve,
    "no_id": Driver(straying(said({"t": "request", "method": "generateContent"}))).serve,
    "id_is_a_text": Driver(straying(said({"t": "done", "id": "one"}))).serve,
    "unknown_notice": Driver(straying(said({"t": "notice", "name": "Gossip"}))).serve,
    "unknown_mode": Driver(
        straying(said({"t": "notice", "name": "ApprovalModeChanged", "payload": {"mode": "odd"}}))
    ).serve,
    "unknown_role": Driver(straying(said({**REQUEST, "role": "jester"}))).serve,
    "ready_again": Driver(straying(said({"t": "ready"}))).serve,
    "bad_event": Driver(straying(said(event("agent_nap", 2)))).serve,
    "event_without_time": Driver(straying(said({"t": "event", "agent": 0, "event": {}}))).serve,
    "event_of_no_agent": Driver(straying(said({**END, "agent": 7}))).serve,
    "dies_after_its_request": Driver(asks_and_dies).serve,
    "dies_in_its_second_session": lambda: Driver(dies_in_its_second_session).serve(),
    "dies_in_its_call": Driver(dies_in_its_call).serve,
    "lets_go_of_its_pipes": lets_go_of_its_pipes,
    "lacks_symbols": lambda: unusable(missing=["LegacyAgentSession", "CoreEvent"], message="x"),
    "cannot_import": lambda: unusable(missing=[], message="Unexpected token"),
}

if __name__ == "__main__":
    BEHAVIOURS[sys.argv[1]]()
