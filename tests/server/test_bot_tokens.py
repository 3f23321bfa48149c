"""Names that belong to a bot: proven by a token, of which the server keeps a digest only."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import trio
from trio.testing import MockClock

from triarena.protocol import from_client as c
from triarena.protocol import from_server as s
from triarena.protocol.identity import canonical, token_digest
from triarena.protocol.values import PROTOCOL
from triarena.server.bots import BotTokens, Identities, load_bot_tokens, new_token, token_line
from triarena.server.settings_sources import SettingsError

from .conftest import PATIENCE, Client, Log, World, house

TOKEN = "the-token-of-ada"
BOTS = BotTokens({canonical("Ada"): token_digest(TOKEN)})


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "bots.toml"


async def answer(world: World, name: str | None, token: str | None) -> s.Welcome | s.Refused:
    client = Client(world.raw())
    await client.say(c.Hello(protocol=PROTOCOL, software="", name=name, token=token))
    message = await client._next()
    assert isinstance(message, s.Welcome | s.Refused)
    return message


@pytest.fixture
async def listing(autojump_clock: MockClock) -> AsyncIterator[World]:
    """A world in which the name Ada belongs to somebody."""
    async with trio.open_nursery() as nursery:
        yield World(nursery, house(bots=BOTS), PATIENCE)
        nursery.cancel_scope.cancel()


async def test_the_token_proves_the_name(listing: World, autojump_clock: MockClock) -> None:
    assert isinstance(await answer(listing, "Ada", TOKEN), s.Welcome)


@pytest.mark.parametrize("name", ["Ada", "ADA", "\uff21da"])  # the last: a letter of full width
@pytest.mark.parametrize("token", [None, "x", TOKEN + "x"])
async def test_a_listed_name_without_its_token_is_refused(
    listing: World, name: str, token: str | None, autojump_clock: MockClock
) -> None:
    refused = await answer(listing, name, token)
    assert isinstance(refused, s.Refused)
    assert refused.code == "wrong_token"
    assert TOKEN not in refused.message


async def test_other_names_stay_free_but_no_token_proves_them(listing: World, autojump_clock: MockClock) -> None:
    assert isinstance(await answer(listing, "Bob", None), s.Welcome)
    assert isinstance(await answer(listing, None, None), s.Welcome)
    for _ in range(8):
        assert isinstance(await answer(listing, "Bob", TOKEN), s.Welcome), "it may be enrolled later, or elsewhere"
    assert [guest.proven for guest in listing.lobby.guests.values()] == [False] * 10


async def test_a_token_without_a_name_is_refused(listing: World, autojump_clock: MockClock) -> None:
    refused = await answer(listing, None, TOKEN)
    assert isinstance(refused, s.Refused)
    assert refused.code == "wrong_token"


async def test_wrong_tokens_are_throttled_by_address_and_the_right_one_never_is(
    listing: World, autojump_clock: MockClock
) -> None:
    codes = []
    for n in range(8):
        refused = await answer(listing, "Ada", f"guess{n}")
        assert isinstance(refused, s.Refused)
        codes.append(refused.code)
    assert codes == ["wrong_token"] * 5 + ["throttled"] * 3
    assert isinstance(await answer(listing, "Bob", "whatever"), s.Welcome), "other names of that address do not wait"
    assert isinstance(await answer(listing, "Ada", TOKEN), s.Welcome), "it can't be guessed, so it need not wait"


@pytest.mark.parametrize(("token", "told"), [(None, "none"), ("a-guess", "another")])
async def test_a_wrong_token_and_a_missing_one_are_logged_alike(
    listing: World, token: str | None, told: str, autojump_clock: MockClock, logged: Log
) -> None:
    await answer(listing, "Ada", token)
    (line,) = [line for line in logged.text.splitlines() if line.startswith("wrong_token ")]
    assert f"'name': 'Ada', 'address': '127.0.0.1', 'token': '{told}', 'times': 1" in line


async def test_tokens_never_reach_the_log(listing: World, autojump_clock: MockClock, logged: Log) -> None:
    await answer(listing, "Ada", "a-secret-guess")
    await answer(listing, "Ada", TOKEN)
    assert "wrong_token" in logged.text
    assert "a-secret-guess" not in logged.text
    assert TOKEN not in logged.text


async def test_a_server_without_such_bots_ignores_tokens(world: World, autojump_clock: MockClock) -> None:
    assert isinstance(await answer(world, "Ada", "whatever"), s.Welcome)


async def test_where_tokens_are_required_others_may_watch_but_not_play(autojump_clock: MockClock) -> None:
    async with trio.open_nursery() as nursery:
        world = World(nursery, house(bots=BotTokens(BOTS.digests, required=True)), PATIENCE)
        ada, bob = Client(world.raw()), await world.client("Bob")
        await ada.say(c.Hello(protocol=PROTOCOL, software="", name="Ada", token=TOKEN))
        await ada.hear(s.Welcome)
        room = (await ada.join()).room
        for request in (c.Join(game="towerwars"), c.JoinRoom(room=room)):
            await bob.say(request)
            assert (await bob.hear(s.Error)).code == "token_required"
        await bob.say(c.Observe(room=room))
        await bob.hear(s.Observing)
        nursery.cancel_scope.cancel()


async def test_a_reservation_is_good_without_a_token(autojump_clock: MockClock) -> None:
    async with trio.open_nursery() as nursery:
        world = World(nursery, house(bots=BotTokens(required=True)), PATIENCE)
        admin, bob = await (await world.client()).administer(), await world.client("Bob")
        await admin.say(c.Prepare(game="towerwars", slots=[c.Slot(), c.Slot()]))
        prepared = await admin.wait_for(s.Prepared)
        await bob.say(c.JoinReserved(reservation=str(prepared.reservations[0])))
        await bob.hear(s.Joined)
        nursery.cancel_scope.cancel()


def test_a_printed_line_can_be_read_and_holds_no_token(file: Path) -> None:
    tokens = {name: new_token() for name in ("Ada", "Lü Bu", "a.b-c_d+e")}
    lines = [token_line(name, token) for name, token in tokens.items()]
    file.write_text("\n".join(lines), encoding="utf-8")
    identities = Identities(BotTokens(load_bot_tokens(file)))
    for name, token in tokens.items():
        assert identities.check(name, token, "10.0.0.1", 0.0)
        assert token not in file.read_text(encoding="utf-8")


def test_what_can_be_no_name_gets_no_line() -> None:
    with pytest.raises(ValueError, match="cannot be a player's name"):
        token_line('"', "token")


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("Ada = 3", "needs a digest"),
        (f"Ada = '{TOKEN}'", "needs a digest"),
        ("Ada = 'sha256:12'", "needs a digest"),
        (f"Ada = '{token_digest('x')}'\nada = '{token_digest('y')}'", "twice"),
        ("Ada", "not TOML"),
    ],
)
def test_a_bad_file_is_an_error_of_the_settings_that_tells_no_token(file: Path, text: str, word: str) -> None:
    file.write_text(text)
    with pytest.raises(SettingsError, match=word) as bad:
        load_bot_tokens(file)
    assert str(file) in bad.value.message
    assert TOKEN not in bad.value.message


def test_a_file_that_is_not_there_is_named(file: Path) -> None:
    with pytest.raises(SettingsError, match="cannot be read: No such file"):
        load_bot_tokens(file)
