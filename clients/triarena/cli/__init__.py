"""The console script ``triarena``: a group of commands, each in the module that bears its name.

Nothing heavy is imported before a command runs, so ``triarena --help`` answers at once and a base
install (rules, protocol, client) works without the server's dependencies. ``COMMANDS`` is the one
table: a command is added by a line there and a module ``triarena.cli.NAME`` that defines it.

Exit codes: 0 done, 1 the command's own failure, 2 wrong use or an extra that is not installed,
70 a fault in TriArena itself, 130 interrupted.
"""

from __future__ import annotations

import errno
import os
import re
import sys
from collections.abc import Sequence
from contextlib import suppress
from difflib import get_close_matches
from importlib import import_module
from typing import Any, NoReturn

try:
    import click
    from click.shell_completion import CompletionItem

    from . import streams
except KeyboardInterrupt:  # in the first milliseconds, when nothing else could catch it
    raise SystemExit(130) from None

AUDIENCES: dict[str, dict[str, tuple[str, str]]] = {
    "Play and learn": {
        "demo": ("triarena.cli.demo:demo", "Watch two bots play, server included, with one command."),
        "join": ("triarena.cli.join:join", "Send a bot into a match."),
        "play": ("triarena.cli.play:play", "Play by hand against a bot."),
        "watch": ("triarena.cli.watch:watch", "Follow a match in the terminal."),
        "replay": ("triarena.cli.replay:replay", "Show a finished match ply by ply."),
        "compare": ("triarena.cli.compare:compare", "Find out which of two bots is better."),
        "games": ("triarena.cli.games:games", "List the games and their options."),
    },
    "Organise": {
        "serve": ("triarena.cli.serve:serve", "Run the server."),
        "health": ("triarena.cli.health:health", "Say whether a server answers."),
        "rooms": ("triarena.cli.rooms:rooms", "List the rooms, their players and clocks."),
        "matches": ("triarena.cli.matches:matches", "List stored matches and their results."),
        "report": ("triarena.cli.report:report", "Tell all that is known of a stored match, for a referee."),
        "prepare": ("triarena.cli.prepare:prepare", "Open a room with reserved seats."),
        "pause": ("triarena.cli.pause:pause", "Pause a match at the next ply."),
        "resume": ("triarena.cli.resume:resume", "Let a paused match go on."),
        "step": ("triarena.cli.step:step", "Let a paused match go on for one ply."),
        "cancel": ("triarena.cli.cancel:cancel", "Break off a match."),
        "tournament": ("triarena.cli.tournament:tournament", "Run tournaments between many bots."),
        "token": ("triarena.cli.token:token", "Make a token for a bot, so that its name is its own."),
        "kick": ("triarena.cli.kick:kick", "Close somebody's connection."),
    },
    "Develop": {
        "rules": ("triarena.cli.rules:rules", "Answer questions about a game's rules, in JSON, one per line."),
        "schema": ("triarena.cli.schema:schema", "Write the JSON Schema of the protocol."),
    },
}
"""Per audience, in the order of the help: command name to (``module:attribute``, help in one line)."""

COMMANDS = {name: entry for commands in AUDIENCES.values() for name, entry in commands.items()}

EXTRAS = {
    "rich": "terminal",
    "trio": "server",
    "structlog": "server",
    "orjson": "server",
    "sqlalchemy": "server",
    "alembic": "server",
    "platformdirs": "server",
    "filelock": "server",
    "annotated_types": "server",
    "psycopg": "postgresql",
    "psutil": "tournament",
}
"""Top-level module to the extra that installs it."""

INTERNAL_ERROR = 70
INTERRUPTED = 130

NOT_VALID = re.compile(r"is not a valid (float|integer)(?: range)?(?=\.$)")
"""What click says of a text that should be a number."""

COMMAND_NAME = "triarena.command"
"""Where the context keeps the command's name: click itself notes it only after the import."""


class NotInstalled(click.ClickException):
    """A command needs an extra that this installation lacks."""

    exit_code = 2


class LazyGroup(click.Group):
    """Lists its commands from ``COMMANDS``, imports one when it is asked for, and guards its run."""

    def main(
        self,
        args: Sequence[str] | None = None,
        prog_name: str | None = None,
        complete_var: str | None = None,
        standalone_mode: bool = True,
        **extra: Any,
    ) -> Any:
        """Run as a program: every end is an exit code, and output that could not be written is told."""
        if not standalone_mode:
            return super().main(args, prog_name, complete_var, False, **extra)
        try:
            streams.prepare()
            code, fault = self._run(args, prog_name, complete_var, extra)
            if unwritten := streams.unwritten(fault):
                code = code or 1
                _explain_output(unwritten)
            elif fault is not None and fault.errno != errno.EPIPE:
                raise fault
        except KeyboardInterrupt:
            code = INTERRUPTED
        sys.exit(code)

    def _run(
        self, args: Sequence[str] | None, prog_name: str | None, complete_var: str | None, extra: dict[str, Any]
    ) -> tuple[int, OSError | None]:
        """The exit code, and the error of an output that may have caused it."""
        try:
            code = super().main(args, prog_name, complete_var, False, **extra)
        except click.ClickException as error:
            words = NOT_VALID.sub(_no_such_number, error.message)
            error.message = words  # type: ignore[misc]  # final by click's stubs, and only read after this
            with suppress(OSError):  # that standard error is closed changes nothing about the end
                error.show()
            return error.exit_code, None
        except click.Abort:
            return INTERRUPTED, None
        except OSError as error:
            return 1, error
        return code if isinstance(code, int) else 0, None

    def list_commands(self, ctx: click.Context) -> list[str]:
        """All names, without importing anything."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command of that name, imported now; None if there is none."""
        if cmd_name not in COMMANDS:
            return None
        ctx.meta[COMMAND_NAME] = cmd_name
        module, _, attribute = COMMANDS[cmd_name][0].partition(":")
        command: click.Command = getattr(import_module(module), attribute)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The command that the arguments name; for a name that is none, a usage error tells those like it."""
        name = args[0]
        if name not in COMMANDS and not name.startswith("-") and not ctx.resilient_parsing:
            similar = get_close_matches(name, COMMANDS)
            hint = f"; did you mean {' or '.join(similar)}?" if similar else "; see triarena --help"
            ctx.fail(f"No such command {name!r}{hint}")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The help's lists of commands, one per audience."""
        width = max(map(len, COMMANDS))
        for audience, commands in AUDIENCES.items():
            with formatter.section(audience):
                formatter.write_dl([(name.ljust(width), line) for name, (_, line) in commands.items()])

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Completions of a command's name, without importing the commands."""
        names = [CompletionItem(n, help=line) for n, (_, line) in COMMANDS.items() if n.startswith(incomplete)]
        return names or click.Command.shell_complete(self, ctx, incomplete)

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; whatever goes wrong ends in one sentence and a documented exit code."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            ctx.exit(INTERRUPTED)
        except (click.ClickException, click.exceptions.Exit, click.Abort):
            raise
        except ImportError as error:
            _explain_import_error(ctx, error)
        except (OSError, ValueError) as error:
            if reason := streams.unwritten(error):
                raise reason from error
            if isinstance(error, OSError) and error.errno == errno.EPIPE:
                raise
            _explain_fault(ctx, error)
        except BaseExceptionGroup as group:
            others = group.split(KeyboardInterrupt)[1]
            if others is None:  # Ctrl-C that passed through a nursery
                ctx.exit(INTERRUPTED)
            if not isinstance(others, ExceptionGroup):  # SystemExit and its like: not ours to judge
                raise
            _explain_fault(ctx, others)
        except Exception as error:
            _explain_fault(ctx, error)


def _no_such_number(found: re.Match[str]) -> str:
    """The same in words for people."""
    return "is no whole number" if found[1] == "integer" else "is no number"


def _explain_import_error(ctx: click.Context, error: ImportError) -> NoReturn:
    """Say which extra to install, or that the fault is ours."""
    missing = (error.name or "").partition(".")[0]
    if missing not in EXTRAS:
        _explain_fault(ctx, error)
    raise NotInstalled(
        f"triarena {ctx.meta[COMMAND_NAME]} needs the extra {EXTRAS[missing]!r}, which is not installed ({missing} is "
        f"missing); from the folder of TriArena's clone: pip install '.[{EXTRAS[missing]}]' [not_installed]"
    ) from None


def _explain_fault(ctx: click.Context, error: BaseException) -> NoReturn:
    """One sentence about an exception that nobody expected, with the traceback only on demand."""
    if os.environ.get("TRIARENA_DEBUG"):
        import traceback

        traceback.print_exception(error)
    what = " ".join(f"{type(error).__name__}: {error}".split())[:200]
    click.echo(
        f"Error: a fault in triarena {ctx.meta.get(COMMAND_NAME, '')}: {what}; "
        "please report it, and set TRIARENA_DEBUG=1 for the traceback [internal_error]",
        err=True,
    )
    ctx.exit(INTERNAL_ERROR)


def _explain_output(error: OSError) -> None:
    """One sentence about standard output; none if its reader has gone, as that of ``| head`` does."""
    if error.errno != errno.EPIPE:
        with suppress(OSError):
            click.echo(f"Error: standard output cannot be written: {error.strerror or error} [cannot_write]", err=True)
    streams.forget()


@click.group(
    cls=LazyGroup,
    name="triarena",
    context_settings={"max_content_width": 100, "help_option_names": ["--help", "-h"]},
)
@click.version_option(None, "--version", "-V", package_name="triarena", message="%(prog)s %(version)s")
def main() -> None:
    """Host, play and watch matches of FlowerWars, TowerWars and Mississippi Queen between bots.

    Start with: triarena demo
    """
