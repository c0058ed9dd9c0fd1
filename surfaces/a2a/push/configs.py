"""The push notification configurations of a task.

A configuration is kept as A2A 0.3 writes it, with the version of the protocol that its client
speaks: a callback in 0.3 carries the task, one in 1.x the event.

Source: A2A 0.3, `PushNotificationConfig`; A2A 1.0, `TaskPushNotificationConfig`.
"""

from __future__ import annotations

from typing import Final

from services.wire import JsonObject
from surfaces.a2a.push.hosts import CallbackHosts
from surfaces.a2a.record import TaskRecord
from surfaces.a2a.wire import RpcError, invalid_params

__all__ = ["BEHIND", "DUE", "PROTOCOL", "add", "checked", "found", "listed", "remove", "shown"]

PROTOCOL: Final = "_protocol"
"""The member with the version of the protocol, which no client sees."""
DUE: Final = "_due"
"""The member that says whether a callback is still to be made, which no client sees."""
BEHIND: Final = "_behind"
"""The member that says that a callback was given up, which no client sees."""
_DEFAULT_ID: Final = "default"
_MOST: Final = 16
_MOST_CHARACTERS: Final = 4096
_NOT_FOUND: Final = -32001


def checked(config: JsonObject, hosts: CallbackHosts, *, protocol: str) -> JsonObject:
    """A configuration that can be kept.

    Args:
        config: what the client wrote, in the shape of A2A 0.3.
        hosts: the hosts that may be called.
        protocol: the version that the client speaks, `0.3` or `1.0`.

    Raises:
        RpcError: it cannot be used.
    """
    authentication = config.get("authentication") or {}
    schemes = [scheme for scheme in authentication.get("schemes") or [] if scheme]
    texts = {
        "url": config.get("url"),
        "id": config.get("id") or None,
        "token": config.get("token"),
        "authentication.schemes": schemes[0] if schemes else None,
        "authentication.credentials": authentication.get("credentials"),
    }
    for name, text in texts.items():
        _check_text(name, text)
    hosts.check_url(str(config["url"]))
    kept = {"url": config["url"], PROTOCOL: protocol}
    for name in ("id", "token"):
        if config.get(name):
            kept[name] = config[name]
    if authentication:
        kept["authentication"] = {
            "schemes": schemes[:1],
            **{name: authentication[name] for name in ("credentials",) if authentication.get(name)},
        }
    return kept


def add(record: TaskRecord, config: JsonObject) -> None:
    """Keep a configuration, in place of one with the same id. The id of one without is `default`.

    Raises:
        RpcError: the task has too many.
    """
    config.setdefault("id", _DEFAULT_ID)
    if config["id"] not in record.callbacks and len(record.callbacks) >= _MOST:
        raise invalid_params(
            f"Task {record.id} has {_MOST} push notification configurations; delete one of them"
        )
    record.callbacks[config["id"]] = config


def found(record: TaskRecord, config_id: str | None) -> JsonObject:
    """The configuration with this id; without an id, the default one, or else the first.

    Raises:
        RpcError: there is none.
    """
    configs = record.callbacks
    if not config_id:
        config_id = _DEFAULT_ID if _DEFAULT_ID in configs else next(iter(configs), None)
    config = None if config_id is None else configs.get(config_id)
    if config is None:
        raise RpcError(
            _NOT_FOUND,
            f"Task {record.id} has no push notification configuration"
            + (f" {config_id}" if config_id else ""),
        )
    return config


def remove(record: TaskRecord, config_id: str) -> None:
    """Forget the configuration with this id, if there is one."""
    record.callbacks.pop(config_id, None)


def listed(record: TaskRecord) -> list[JsonObject]:
    """All configurations of a task."""
    return list(record.callbacks.values())


def shown(task_id: str, config: JsonObject) -> JsonObject:
    """A configuration as a client of A2A 0.3 reads it."""
    own = {name: value for name, value in config.items() if not name.startswith("_")}
    return {"taskId": task_id, "pushNotificationConfig": own}


def _check_text(name: str, text: object) -> None:
    """Check a text that becomes an address or a header.

    Raises:
        RpcError: it cannot be one.
    """
    if text is None and name != "url":
        return
    if not isinstance(text, str) or not text:
        raise invalid_params(f"pushNotificationConfig.{name} must be a text")
    if len(text) > _MOST_CHARACTERS or not text.isascii() or not text.isprintable():
        raise invalid_params(
            f"pushNotificationConfig.{name} must have at most {_MOST_CHARACTERS} printable "
            "characters of ASCII"
        )
