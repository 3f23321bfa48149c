"""What is told of a ply without models must be what the models would tell."""

from __future__ import annotations

import random
from collections.abc import Mapping
from itertools import islice
from typing import Any

import msgpack
import pytest

from triarena.games import Side, find_game
from triarena.protocol.codec import encode, encode_plain
from triarena.protocol.from_server import Moved, YourTurn
from triarena.protocol.values import Clock
from triarena.server.terms import Played
from triarena.server.wording import worded_move, worded_position

MATCHES = [
    ("flowerwars", {"size": 5}),
    ("towerwars", {"size": 5}),
    ("mississippi_queen", {"sandbanks": 2}),
]


@pytest.mark.parametrize(("name", "options"), MATCHES)
@pytest.mark.parametrize("seed", range(3))
def test_our_own_games_words_make_the_frames_that_the_models_make(
    name: str, options: Mapping[str, Any], seed: int
) -> None:
    game, chance = find_game(name), random.Random(seed)
    position = game.start(options, seed)
    ply = 0
    while position.outcome is None:
        turn = YourTurn(room="r", ply=ply, clock=Clock(limit_ms=1.5))
        told = {**turn.model_dump(exclude_none=True), "position": worded_position(game, position)}
        whole = YourTurn.model_validate({**dict(turn), "position": game.write_position(position)})
        assert encode_plain(turn, told).data == encode(whole).data

        move = chance.choice(list(islice(position.legal_moves(), 20)))
        played = Played(ply, Side.RED.value, worded_move(game, move), game.format(move), 0.5)
        plain = {"type": "moved", "room": "r", **played.told()}
        moved = Moved.model_validate(plain)
        assert msgpack.packb(plain) == encode(moved).data[4:]
        assert played.move == moved.move.model_dump(), "what the journal keeps"
        position, ply = position.play(move), ply + 1
