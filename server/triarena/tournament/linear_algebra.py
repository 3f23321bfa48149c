"""The little linear algebra that ratings need: symmetric matrices of at most a hundred rows, as lists of rows."""

from __future__ import annotations

import math
from collections.abc import Sequence
from operator import mul
from typing import TypeAlias

Matrix: TypeAlias = list[list[float]]
Vector: TypeAlias = Sequence[float]


def dot(left: Vector, right: Vector) -> float:
    """The scalar product."""
    total: float = sum(map(mul, left, right))
    return total


def times(matrix: Matrix, vector: Vector) -> list[float]:
    """A matrix times a column."""
    return [dot(row, vector) for row in matrix]


def inverse(matrix: Matrix) -> Matrix:
    """The inverse of a symmetric positive definite matrix, by Cholesky's decomposition.

    Raises ValueError if the matrix is not positive definite, as far as floating point can tell.
    """
    size = len(matrix)
    lower: Matrix = []
    for i in range(size):
        row: list[float] = []
        for j in range(i):
            row.append((matrix[i][j] - dot(row, lower[j])) / lower[j][j])  # map ends with the shorter of the two
        rest = matrix[i][i] - dot(row, row)
        if not rest > 0:
            raise ValueError("the matrix is not positive definite")
        lower.append([*row, math.sqrt(rest)])
    # Columns of the inverse of the triangle; then its transpose times itself.
    columns: Matrix = []
    for j in range(size):
        column = [1 / lower[j][j]]
        for i in range(j + 1, size):
            column.append(-dot(lower[i][j:i], column) / lower[i][i])
        columns.append(column)
    result = [[0.0] * size for _ in range(size)]
    for i in range(size):
        for j in range(i + 1):
            result[i][j] = result[j][i] = dot(columns[i], columns[j][i - j :])
    return result


def conjugated(outer: Matrix, inner: Matrix) -> Matrix:
    """``outer @ inner @ outer`` of two symmetric matrices; symmetric."""
    half = [times(inner, row) for row in outer]
    result = [[0.0] * len(outer) for _ in outer]
    for i, row in enumerate(half):
        for j in range(i + 1):
            result[i][j] = result[j][i] = dot(row, outer[j])
    return result


def centred(matrix: Matrix) -> Matrix:
    """A symmetric covariance of values, as that of the same values less their mean."""
    size = len(matrix)
    means = [math.fsum(row) / size for row in matrix]
    mean = math.fsum(means) / size
    return [[matrix[i][j] - means[i] - means[j] + mean for j in range(size)] for i in range(size)]
