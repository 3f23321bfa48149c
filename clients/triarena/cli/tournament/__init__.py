"""``triarena tournament``: check, run, resume, look at, export and cancel tournaments.

=================  =============================================================================
module             is
=================  =============================================================================
``check``          the file, and every local bot in a short match
``run``            begins a tournament
``resume``         goes on with one
``standings``      how it stands
``export``         the page and the tables
``cancel``         ends it for good
``running``        what ``run``, ``resume``, ``check`` and ``compare`` share
``renewing``       page and tables of one that no tool runs
``paths``          the arguments that name them
``opening``        folders and files of tournaments, and their errors in sentences
``owners``         how those of remote bots join, and whether they can
``evidence``       what is kept of an irregular match
``screen``         what is seen while it runs
``server_choice``  at which server it is played
=================  =============================================================================
"""

from __future__ import annotations

from difflib import get_close_matches
from importlib import import_module
from typing import Final

import click

SUBCOMMANDS: Final[dict[str, str]] = {
    "check": "Check a tournament's file, and try every local bot.",
    "run": "Run the tournament that a file describes.",
    "resume": "Go on with a tournament that was interrupted.",
    "standings": "Show how a tournament stands.",
    "export": "Write the page, the CSV tables and the JSON lines anew.",
    "cancel": "End a tournament for good.",
}
"""In the order of the help; each in the module of its name."""


class Subcommands(click.Group):
    """Imports a subcommand when it is asked for."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """All names, in the order of an evening."""
        return list(SUBCOMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The subcommand of that name; None if there is none."""
        if cmd_name not in SUBCOMMANDS:
            return None
        command: click.Command = getattr(import_module(f"{__name__}.{cmd_name}"), cmd_name)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """As any group does, but a name that is none is told those like it."""
        name = args[0]
        if name not in SUBCOMMANDS and not name.startswith("-") and not ctx.resilient_parsing:
            similar = get_close_matches(name, SUBCOMMANDS)
            hint = f"did you mean {' or '.join(similar)}?" if similar else f"there are {', '.join(SUBCOMMANDS)}"
            ctx.fail(f"No such command {name!r}; {hint}")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The list, without importing anything."""
        with formatter.section("Commands"):
            formatter.write_dl(list(SUBCOMMANDS.items()))


@click.group(cls=Subcommands)
def tournament() -> None:
    """Run tournaments between bots: from two to a class of forty, in one file.

    \b
    $ triarena tournament check class.toml
    $ triarena tournament run class.toml
    $ triarena tournament resume class.tournament
    """
