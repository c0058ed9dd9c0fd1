"""`parity agent extensions`, which manages what `parity agent` loads."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import click

from harness.command_line.deferred import command

__all__ = ["AgentCommand", "extensions"]

_NAMES: Final = ("extensions", "extension")
_SCOPE: Final = click.option(
    "--scope",
    type=click.Choice(["user", "workspace"], case_sensitive=False),
    help="Where it counts.",
)
_CONSENT: Final = click.option("--consent", is_flag=True, help="Agree without a question.")


class AgentCommand(click.Command):
    """`parity agent`, whose prompt cannot begin with `extensions`: that is a command."""

    def make_context(
        self,
        info_name: str | None,
        args: list[str],
        parent: click.Context | None = None,
        **extra: Any,
    ) -> click.Context:
        """Parse the arguments, here or in the group."""
        place = self._first_word(args)
        if place is None or args[place] not in _NAMES:
            return super().make_context(info_name, args, parent, **extra)
        above = super().make_context(info_name, args[:place], parent, **extra)
        return extensions.make_context(args[place], args[place + 1 :], above)

    def _first_word(self, args: Sequence[str]) -> int | None:
        """Where the first argument is that is neither an option nor the value of one."""
        values = {
            name: not option.is_flag and not isinstance(option.flag_value, str)
            for option in self.params
            if isinstance(option, click.Option)
            for name in option.opts
        }
        skip = False
        for place, word in enumerate(args):
            if skip:
                skip = False
            elif word == "--":
                return None
            elif not word.startswith("-"):
                return place
            else:
                skip = values.get(word, False)
        return None


@click.group()
def extensions() -> None:
    """Manage the extensions in ~/.gemini/extensions.

    \b
    parity agent extensions install ./my-extension
    parity agent extensions list
    """


@command("extensions:install", group=extensions)
@click.argument("source")
@click.option("--ref", metavar="REF", help="The branch, tag or commit of the repository.")
@click.option("--auto-update", is_flag=True, help="Update it when a session begins.")
@click.option("--pre-release", is_flag=True, help="Take versions before a release, too.")
@_CONSENT
@click.option("--skip-settings", is_flag=True, help="Do not ask for the values of its settings.")
def install() -> None:
    """Install an extension from the URL of a git repository, or from a folder.

    \b
    parity agent extensions install https://example.com/my-extension.git --ref v2
    parity agent extensions install ./my-extension --consent

    Exit codes: 0 installed; 1 not installed; 2 wrong usage; 52 invalid settings.
    """


@command("extensions:link", group=extensions)
@click.argument("path")
@_CONSENT
def link() -> None:
    """Use an extension in the folder PATH: changes of its files count in the next session.

    \b
    parity agent extensions link ./my-extension

    Exit codes: 0 linked; 1 not linked; 2 wrong usage; 52 invalid settings.
    """


@command("extensions:uninstall", group=extensions)
@click.argument("names", nargs=-1)
@click.option("--all", "every", is_flag=True, help="Every extension.")
def uninstall() -> None:
    """Remove extensions, by their names or where they come from.

    \b
    parity agent extensions uninstall my-extension

    Exit codes: 0 removed; 1 one is not removed; 2 wrong usage; 52 invalid settings.
    """


@command("extensions:update", group=extensions)
@click.argument("name", required=False)
@click.option("--all", "every", is_flag=True, help="Every extension.")
def update() -> None:
    """Replace an extension by its newest version.

    \b
    parity agent extensions update --all

    Exit codes: 0 done; 1 the update failed; 2 wrong usage; 52 invalid settings.
    """


@command("extensions:list_installed", "list", group=extensions)
@click.option(
    "-o",
    "--output-format",
    "output",
    type=click.Choice(["text", "json"]),
    default="text",
    help="The format of standard output.  [default: text]",
)
def list_installed() -> None:
    """List the installed extensions.

    \b
    parity agent extensions list -o json

    Exit codes: 0 listed; 2 wrong usage; 52 invalid settings.
    """


@command("extensions:enable", group=extensions)
@click.argument("name")
@_SCOPE
def enable() -> None:
    """Enable an extension.

    \b
    parity agent extensions enable my-extension --scope workspace

    Exit codes: 0 enabled; 1 there is no such extension; 2 wrong usage; 52 invalid settings.
    """


@command("extensions:disable", group=extensions)
@click.argument("name")
@_SCOPE
def disable() -> None:
    """Disable an extension.

    \b
    parity agent extensions disable my-extension --scope workspace

    Exit codes: 0 disabled; 1 there is no such extension; 2 wrong usage; 52 invalid settings.
    """


@command("extensions:new", group=extensions)
@click.argument("path")
def new() -> None:
    """Begin an extension in the new folder PATH.

    \b
    parity agent extensions new ./my-extension

    Exit codes: 0 written; 1 not written; 2 wrong usage.
    """


@command("extensions:validate", group=extensions)
@click.argument("path")
def validate() -> None:
    """Look for mistakes in the extension in the folder PATH.

    \b
    parity agent extensions validate ./my-extension

    Exit codes: 0 there are none; 1 there are some; 2 wrong usage.
    """


@command("extensions:configure", "config", group=extensions)
@click.argument("name", required=False)
@click.argument("setting", required=False)
@click.option(
    "--scope",
    type=click.Choice(["user", "workspace"]),
    default="user",
    help="Whose value it is.  [default: user]",
)
def configure() -> None:
    """Ask for the values of the settings of an extension, or of all.

    \b
    parity agent extensions config my-extension

    Exit codes: 0 done; 1 a value cannot be kept; 2 wrong usage; 52 invalid settings.
    """
