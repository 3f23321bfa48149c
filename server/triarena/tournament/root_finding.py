"""Zeros of functions of one variable, where they are known to lie between two places."""

from __future__ import annotations

from collections.abc import Callable


def zero_between(f: Callable[[float], float], a: float, b: float, tolerance: float) -> float:
    """Where f is 0 between a and b, at whose ends its signs differ; to within ``tolerance``.

    The Illinois variant of regula falsi: Dowell and Jarratt, "A modified regula falsi method for computing the root of
    an equation", BIT 11 (1971).
    """
    at_a, at_b = f(a), f(b)
    if at_a * at_b > 0:
        raise ValueError("the function has the same sign at both ends")
    while at_b != 0 and abs(b - a) > tolerance:
        c = a + (a - b) * at_a / (at_b - at_a)
        if c == b:  # as close as floating point comes
            break
        at_c = f(c)
        if at_c * at_b < 0:
            a, at_a = b, at_b
        else:
            at_a /= 2
        b, at_b = c, at_c
    return b
