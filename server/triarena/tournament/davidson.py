"""One game between two players in Davidson's model: a win, a loss or a draw.

Source: Roger R. Davidson, "On extending the Bradley-Terry model to accommodate ties in paired comparison experiments",
Journal of the American Statistical Association 65 (1970). With strengths pi and the parameter nu of draws::

    P(win) : P(loss) : P(draw)  =  pi_1 : pi_2 : nu sqrt(pi_1 pi_2)

Here d = log pi_1 - log pi_2. The game is told by two numbers, s = 1/2, -1/2, 0 for a win, a loss, a draw, and D = 1 for
a draw and else 0; the probability is proportional to exp(s d + D log nu). They are the sufficient statistics of an
exponential family, so all that estimation needs are their moments. With nu = 0 it is Bradley's and Terry's model.
"""

from __future__ import annotations

import math
from typing import NamedTuple


class Moments(NamedTuple):
    """Means, covariances and third central moments of s and D."""

    s: float
    draw: float
    ss: float
    s_draw: float
    draw_draw: float
    sss: float
    ss_draw: float
    s_draw_draw: float
    draw_draw_draw: float


def probabilities(d: float, nu: float) -> tuple[float, float, float]:
    """Of a win, a loss and a draw of the first player, whose log strength is greater by d."""
    if d < 0:
        win, loss, draw = probabilities(-d, nu)
        return loss, win, draw
    loss, draw = math.exp(-d), nu * math.exp(-d / 2)  # relative to a win, so nothing overflows
    return 1 / (1 + loss + draw), loss / (1 + loss + draw), draw / (1 + loss + draw)


def moments(d: float, nu: float) -> Moments:
    """The moments of a game."""
    win, loss, draw = probabilities(d, nu)
    s, decided = (win - loss) / 2, win + loss
    ss = decided / 4 - s * s
    return Moments(
        s=s,
        draw=draw,
        ss=ss,
        s_draw=-s * draw,
        draw_draw=draw * decided,
        sss=s / 4 - 3 * s * decided / 4 + 2 * s**3,
        ss_draw=-draw * (ss - s * s),
        s_draw_draw=-s * draw * (1 - 2 * draw),
        draw_draw_draw=draw * decided * (1 - 2 * draw),
    )


def divergence(d: float, nu: float, shift: float) -> float:
    """The Kullback-Leibler divergence of a game whose d is shifted, from the game as it is. 0 for no shift."""
    win, loss, draw = probabilities(d, nu)
    half = shift / 2
    # The logarithm of the ratio of the two normalising sums: log E exp(s shift), with its biggest part taken out.
    big = abs(half)
    grown = win * math.exp(half - big) + loss * math.exp(-half - big) + draw * math.exp(-big)
    return big + math.log(grown) - (win - loss) * half
