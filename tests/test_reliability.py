"""The promises of docs/reliability.md, kept in small: the benchmarks that prove them, with few rounds.

Each runs in a process of its own against servers of its own, prints its figures (see them with ``-s``), and ends with
an error if anything was not as promised.
"""

from __future__ import annotations

import os

import pytest

from .benchmark_runs import run_benchmark

pytestmark = pytest.mark.soak


def prove(script: str, *arguments: str) -> None:
    """Run a benchmark, and print its figures."""
    print(f"\n{run_benchmark(script, *arguments, timeout=240)}", end="")


@pytest.mark.slow
def test_nobody_who_is_in_time_loses_on_time_however_busy_the_machine_is() -> None:
    prove("false_timeouts.py", "--seconds", "15")


@pytest.mark.slow
def test_stalls_of_the_server_are_charged_to_nobody_and_slow_bots_lose_in_every_time_control() -> None:
    prove("stalls.py", "--seconds", "3", "--matches", "2")


@pytest.mark.slow
def test_nothing_that_was_announced_is_forgotten_when_the_server_is_killed() -> None:
    prove("crashes.py", "--rounds", "5")


@pytest.mark.slow
def test_nothing_that_was_announced_is_forgotten_on_postgresql_either() -> None:
    if not (url := os.environ.get("TRIARENA_TEST_POSTGRES")):
        pytest.skip("TRIARENA_TEST_POSTGRES holds no URL; `.ci/postgres start DIR` starts a PostgreSQL and prints one")
    prove("crashes.py", "--rounds", "5", "--database", url)


@pytest.mark.slow
def test_idle_connections_are_cheap_and_memory_does_not_grow_with_the_matches_played() -> None:
    prove("crowd.py", "--idle", "500", "--tables", "20", "--matches", "600", "--rooms", "44")
