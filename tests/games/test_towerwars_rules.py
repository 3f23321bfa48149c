"""TowerWars rule by rule, on positions small enough to read."""

from __future__ import annotations

from typing import Any

import pytest

from triarena.games.core import BadOptions, IllegalMove, MalformedMove, Outcome, Score, Side
from triarena.games.towerwars import GAME, Piece, Step, TowerWarsPosition


def at(text: str) -> TowerWarsPosition:
    return TowerWarsPosition.from_text(text)


def after(text: str, *moves: str) -> str:
    position = at(text)
    for move in moves:
        position = position.play(GAME.parse(move))
    return position.to_text()


def targets(text: str, start: str) -> set[str]:
    return {move.target for move in at(text).legal_moves() if move.start == start}


def won(winner: Side, reason: str) -> Outcome:
    return Outcome(winner, reason, Score(int(winner is Side.RED)), Score(int(winner is Side.BLUE)))


# The start


def test_stones_stand_up_to_half_the_size_away_from_their_base() -> None:
    assert TowerWarsPosition.start(4).to_text() == "Rrr./rr.b/r.bb/.bbB R"
    assert TowerWarsPosition.start(5).to_text() == "Rrr../rr.../r...b/...bb/..bbB R"


def test_the_start_depends_on_the_size_alone() -> None:
    assert GAME.start({"size": 6, "max_plies": 3}, seed=1) == GAME.start({"size": 6}, seed=2)
    assert GAME.start({}).size == 8


@pytest.mark.parametrize("options", [{"size": 3}, {"size": 27}, {"size": "8"}, {"size": True}, {"sise": 8}])
def test_options_out_of_range_or_unknown_are_refused(options: dict[str, object]) -> None:
    with pytest.raises(BadOptions):
        GAME.start(options)


def test_the_referee_breaks_off_after_max_plies_unless_it_is_0() -> None:
    assert GAME.ply_limit({}) == 1_000
    assert GAME.ply_limit({"size": 26, "max_plies": 7}) == 7
    assert GAME.ply_limit({"max_plies": 0}) is None


# Stones


def test_a_field_has_six_neighbours_and_the_two_on_the_long_diagonal_are_none() -> None:
    assert targets("R..../...../..r../...../....B R", "C3") == {"C2", "D2", "B3", "D3", "B4", "C4"}


def test_a_stone_reaches_further_by_the_sum_of_the_heights_beside_it() -> None:
    text = "R...../....../..r2r../..r1.../....../.....B R"
    assert at(text).reach("D3") == 1 + 2 + 1
    assert "F5" in targets(text, "D3")  # 4 away
    assert "F6" not in targets(text, "D3")  # 5 away


def test_blocked_towers_and_those_of_the_opponent_lengthen_no_reach() -> None:
    assert at("R...../...b2../..r2xr../....../....../.....B R").reach("D3") == 1


def test_nothing_stands_in_the_way_of_a_stone() -> None:
    assert after("R...../....../rr1b2xbb./r1...../....../.....B R", "A3->D3") == (
        "R...../....../.r1b2xrb./r1...../....../.....B B"
    )


def test_a_stone_on_an_own_stone_builds_a_tower_and_on_that_raises_it() -> None:
    assert (
        after("R...../....../rr..../....../.....b/....bB R", "A3->B3") == "R...../....../.r1..../....../.....b/....bB B"
    )
    assert after("R...../....../rr1..../....../.....b/....bB R", "A3->B3") == (
        "R...../....../.r2..../....../.....b/....bB B"
    )


def test_from_nearby_a_stone_captures_a_whole_tower_blocked_or_not() -> None:
    assert after("R.../.rb1./...b/...B R", "B2->C2") == "R.../..r./...b/...B B"
    assert after("R.../.rb1x./...b/...B R", "B2->C2") == "R.../..r./...b/...B B"


def test_a_neighbouring_tower_is_captured_even_by_a_stone_that_reaches_further() -> None:
    assert after("R.../r1rb1./...b/...B R", "B2->C2") == "R.../r1.r./...b/...B B"


def test_from_afar_a_stone_blocks_a_tower_and_leaves_play() -> None:
    assert after("R.../r1r.b1/...b/...B R", "B2->D2") == "R.../r1..b1x/...b/...B B"


def test_a_stone_unblocks_an_own_tower_and_both_stones_leave_play() -> None:
    assert after("R.../.rr1x./...b/...B R", "B2->C2") == "R.../..r1./...b/...B B"
    assert after("R.../r1r.r1x/...b/...B R", "B2->D2") == "R.../r1..r1/...b/...B B"


# Towers


def test_the_top_stone_of_a_tower_goes_to_a_neighbouring_field() -> None:
    text = "R...../....../..r2.../....../.....b/.....B R"
    assert targets(text, "C3") == {"C2", "D2", "B3", "D3", "B4", "C4"}
    assert after(text, "C3->D3") == "R...../....../..r1r../....../.....b/.....B B"


def test_a_dismantled_tower_of_height_1_is_a_stone() -> None:
    assert after("R.../.r1../...b/...B R", "B2->B3") == "R.../.r../.r.b/...B B"


def test_a_top_stone_builds_raises_and_unblocks() -> None:
    rest = "/....../.....b/.....B"
    assert after(f"R...../....../..r1r..{rest} R", "C3->D3") == f"R...../....../..rr1..{rest} B"
    assert after(f"R...../....../..r1r1..{rest} R", "C3->D3") == f"R...../....../..rr2..{rest} B"
    assert after(f"R...../....../..r1r2x..{rest} R", "C3->D3") == f"R...../....../..rr2..{rest} B"


def test_towers_of_small_boards_have_height_1() -> None:
    assert "C2" not in targets("R.../.rr1./...b/...B R", "B2")


# Refusals


@pytest.mark.parametrize(
    ("code", "text", "move"),
    [
        ("game_over", "b.../.r../..../...B R", "B2->B3"),
        ("off_board", "Rrr./rr.b/r.bb/.bbB R", "A2->E2"),
        ("off_board", "Rrr./rr.b/r.bb/.bbB R", "Z26->A2"),
        ("no_piece", "Rrr./rr.b/r.bb/.bbB R", "D1->C2"),
        ("not_your_piece", "Rrr./rr.b/r.bb/.bbB R", "D2->C2"),
        ("not_your_piece", "Rrr./rr.b/r.bb/.bbB R", "D4->A4"),
        ("base_never_moves", "R.../.r../...b/...B R", "A1->B1"),
        ("tower_blocked", "R.../r.r1x./...b/...B R", "C2->D2"),
        ("same_field", "R.../.r../...b/...B R", "B2->B2"),
        ("tower_too_far", "R.../.r1r1./...b/...B R", "B2->B4"),
        ("out_of_range", "R.../.r../...b/...B R", "B2->D2"),
        ("out_of_range", "R.../rr1x.b/.r1../...B R", "A2->D2"),
        ("own_base", "Rr../..../...b/...B R", "B1->A1"),
        ("own_base", "Rr1../..../...b/...B R", "B1->A1"),
        ("tower_full", "R.../.rr1./...b/...B R", "B2->C2"),
        ("tower_full", "R.../.r1r1./...b/...B R", "B2->C2"),
        ("tower_captures", "R.../.r1b./...b/...B R", "B2->C2"),
        ("tower_captures", "R.../..../...r1/...B R", "D3->D4"),
        ("already_blocked", "R.../r1r.b1x/...b/...B R", "B2->D2"),
    ],
)
def test_each_rule_refuses_with_its_code_and_names_the_fields(code: str, text: str, move: str) -> None:
    position = at(text)
    with pytest.raises(IllegalMove, match=f"^{move} is illegal: ") as caught:
        position.check(GAME.parse(move))
    assert caught.value.code == code
    with pytest.raises(IllegalMove):
        position.play(GAME.parse(move))


def test_an_unknown_field_is_off_the_board() -> None:
    with pytest.raises(IllegalMove) as caught:
        TowerWarsPosition.start(4).check(Step("A2", "?"))
    assert caught.value.code == "off_board"


# The end


def test_a_stone_on_the_base_of_the_opponent_wins_near_or_far() -> None:
    near = at("R.../..../...r/b..B R").play(Step("D3", "D4"))
    far = at("R.../...r/..r1./b..B R").play(Step("D2", "D4"))
    assert near.outcome == far.outcome == won(Side.RED, "base")
    assert (near.to_text(), far.to_text()) == ("R.../..../..../b..r B", "R.../..../..r1./b..r B")


def test_a_side_without_pieces_has_lost() -> None:
    assert at("R.../.rb./..../...B R").play(Step("B2", "C2")).outcome == won(Side.RED, "no_move")


def test_a_side_with_blocked_towers_only_has_lost() -> None:
    assert at("R.../r1r.b1/..../...B R").play(Step("B2", "D2")).outcome == won(Side.RED, "no_move")


def test_a_side_with_surrounded_towers_only_has_lost() -> None:
    assert at("R...../....../..rb../....../....rr/...rb1B R").play(Step("C3", "D3")).outcome == won(Side.RED, "no_move")


def test_a_tower_that_can_still_be_dismantled_keeps_the_game_going() -> None:
    assert at("R.../.rb./..../b1..B R").play(Step("B2", "C2")).outcome is None


def test_a_tower_beside_an_own_blocked_one_of_full_height_can_still_move() -> None:
    position = at("R...../....../..rb../....../...rrr/..rb2xb2B R").play(Step("C3", "D3"))
    assert position.outcome is None
    assert [str(move) for move in position.legal_moves()] == ["E6->D6"]


def test_the_full_towers_around_a_stone_can_be_dismantled_onto_it() -> None:
    """So a side with a stone always has a move, even in positions that no game leads to."""
    position = at("Rrr1r1/r1r1r1r1/r1r1r1r1/r1r1r1B R")
    assert position.outcome is None
    assert {str(move) for move in position.legal_moves()} == {"C1->B1", "A2->B1", "B2->B1"}


def test_full_towers_alone_cannot_move() -> None:
    assert at("Rr1r1r1/r1r1r1r1/r1r1r1r1/r1r1r1B R").outcome == won(Side.BLUE, "no_move")


def test_a_stone_without_a_free_neighbour_may_still_have_a_far_move() -> None:
    position = at("Rrr1./r1r1r1r1/r1r1r1r1/r1r1r1B R")
    assert position.outcome is None
    assert Step("B1", "D1") in list(position.legal_moves())


def test_after_the_end_there_are_no_moves_and_the_winner_has_a_point() -> None:
    position = at("b.../.r../..../...B R")
    assert list(position.legal_moves()) == []
    assert (position.score(Side.RED), position.score(Side.BLUE)) == (Score(0), Score(1))
    assert TowerWarsPosition.start(4).score(Side.RED) == Score(0)


# The position as a value


def test_pieces_can_be_looked_up_by_field() -> None:
    position = at("R.../r.b1x./..../r1..B R")
    assert position.piece("A1") == Piece(Side.RED, "base")
    assert position.piece("B1") is None
    assert position.piece("C2") == Piece(Side.BLUE, "tower", height=1, blocked=True)
    assert dict(position.pieces()).keys() == {"A1", "A2", "C2", "A4", "D4"}
    assert sum(piece.stones for _, piece in position.pieces() if piece.side is Side.RED) == 3


@pytest.mark.parametrize("field", ["Q9", "a1", "", "A0", 5])
def test_a_field_that_the_board_has_not_is_told_with_those_it_has(field: Any) -> None:
    position = TowerWarsPosition.start(4)
    for look_up in (position.piece, position.reach):
        with pytest.raises(ValueError, match=f"the board of size 4 has no field {field!r}; it has A1 to D4"):
            look_up(field)


@pytest.mark.parametrize("move", ["A2->A3", None, 5, ("A2", "A3")], ids=repr)
def test_what_is_no_move_cannot_be_played(move: Any) -> None:
    position = TowerWarsPosition.start(4)
    for function in (position.check, position.play):
        with pytest.raises(MalformedMove, match="is no move of TowerWars") as caught:
            function(move)
        assert ("game.parse" in caught.value.message) is isinstance(move, str)


def test_the_repr_makes_the_position_again() -> None:
    assert repr(at("R.../.r../..../b..B B")) == "TowerWarsPosition.from_text('R.../.r../..../b..B B')"
