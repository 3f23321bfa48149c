"""``triarena schema``: the protocol for other languages, and whether its published files are up to date."""

from __future__ import annotations

from pathlib import Path

import click

from .invocation import command
from .options import Failure

DIRECTORY = click.Path(file_okay=False, path_type=Path)


@click.command()
@click.option("--write", "target", type=DIRECTORY, metavar="DIR", help="Write the document, schema and test vectors.")
@click.option("--check", "source", type=DIRECTORY, metavar="DIR", help="Exit 1 if a file there is not up to date.")
def schema(target: Path | None, source: Path | None) -> None:
    """Print the JSON Schema of the protocol, for validators and code generators.

    With --write or --check it is about three files in DIR: protocol.md, protocol.schema.json and test-vectors.json,
    which are all made from the same models as the messages.

    \b
    $ triarena schema > protocol.schema.json
    $ triarena schema --check docs
    """
    from triarena.protocol.publication import files

    if target is not None and source is not None:
        raise click.UsageError("--write and --check exclude each other; write first, then check")
    if target is not None:
        _write(target, files())
    elif source is not None:
        _check(source, files())
    else:
        click.echo(files()["protocol.schema.json"].encode(), nl=False)  # UTF-8, whatever the terminal takes


def _write(folder: Path, files: dict[str, str]) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in files.items():
            (folder / name).write_text(text, "utf-8", newline="\n")
            click.echo(f"wrote {folder / name}")
    except OSError as error:
        raise Failure("cannot_write", f"{folder} cannot be written: {error.strerror or error}") from None


def _check(folder: Path, files: dict[str, str]) -> None:
    drifted = [name for name, text in files.items() if _read(folder / name) != text]
    if drifted:
        raise Failure(
            "drifted",
            f"not as the messages are: {', '.join(str(folder / name) for name in drifted)}; "
            f"write them anew with: {command('schema', '--write', str(folder))}",
        )
    click.echo(f"{folder}: all {len(files)} files are up to date")


def _read(path: Path) -> str | None:
    try:
        return path.read_bytes().decode("utf-8")
    except (OSError, UnicodeDecodeError):
        return None
