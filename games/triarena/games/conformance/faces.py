"""The promises of a game's face: its names, its options, the same start for the same seed."""

from __future__ import annotations

from collections.abc import Mapping

from triarena.games.core import AnyGame, BadOptions, IntOption, settle_options

from .promise import promise, refuses

NO_OPTION_VALUES: tuple[object, ...] = (None, True, 1.0, float("nan"), "", "1", "no such choice", [], {}, b"8", 10**400)


def check_faces(game: AnyGame, options: Mapping[str, object], seed: int) -> None:
    """Raises AssertionError for the first promise about names, options and starts that is broken."""
    promise(game.name.isidentifier() and game.name == game.name.lower(), f"{game.name!r} is no lower-case identifier")
    promise(bool(game.title.strip()), f"{game.name} has no title")
    promise(type(game.rules_version) is int and game.rules_version > 0, f"{game.name}: rules_version counts from 1")
    check_options(game)
    check_start(game, options, seed)


def check_options(game: AnyGame) -> None:
    """Defaults are in range and everything else is refused with BadOptions."""
    names = [option.name for option in game.options]
    promise(len(set(names)) == len(names), f"{game.name} has two options of one name")
    game.start({})
    bad: list[tuple[str, object]] = [("no such option", 1), ("", 1)]
    for option in game.options:
        promise(option.settle(option.default) == option.default, f"the default of {option.name} is out of range")
        promise(bool(option.description), f"{option.name} has no description")
        good = range(option.minimum, option.maximum + 1) if isinstance(option, IntOption) else option.choices
        if isinstance(option, IntOption):
            bad += [(option.name, option.minimum - 1), (option.name, option.maximum + 1)]
        bad += [
            (option.name, value) for value in NO_OPTION_VALUES if type(value) is not type(good[0]) or value not in good
        ]
    for name, value in bad:
        what = f"{game.name} with the option {name!r} = {value!r:.40}"
        promise(refuses(BadOptions, what, game.start, {name: value}) is not None, f"{what} is accepted")


def check_start(game: AnyGame, options: Mapping[str, object], seed: int) -> None:
    """The same options and seed give the same start, whether defaults are named or not."""
    first, again = game.start(options, seed), game.start(dict(options), seed)
    what = f"{game.name} with {dict(options)} and seed {seed}"
    promise(first == again and hash(first) == hash(again), f"{what} does not start the same twice")
    settled = settle_options(game.name, game.options, options)
    promise(game.start(settled, seed) == first, f"{what} starts otherwise when the defaults are named")
    limit = game.ply_limit(settled)
    promise(limit is None or (type(limit) is int and limit > 0), f"{what} has the ply limit {limit!r}")
