"""A log of bounded size, whatever is written to it."""

from __future__ import annotations

from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from triarena.organiser.bounded_log import BoundedLog

HEAD, TAIL = 7, 5


@given(chunks=st.lists(st.tuples(st.binary(max_size=12), st.booleans())))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_the_log_is_what_was_said_first_and_what_was_said_last(
    tmp_path: Path, chunks: list[tuple[bytes, bool]]
) -> None:
    path = tmp_path / "it.log"
    log = BoundedLog(str(path), HEAD, TAIL)
    said = b""
    for chunk, is_time_to_look in chunks:
        log.write(chunk)
        said += chunk
        if is_time_to_look:
            log.flush()
            assert path.read_bytes() == bounded(said)
    log.close()
    assert path.read_bytes() == bounded(said)
    assert log.dropped == max(0, len(said) - HEAD - TAIL)


def bounded(said: bytes) -> bytes:
    if len(said) <= HEAD + TAIL:
        return said
    return said[:HEAD] + f"\n[... {len(said) - HEAD - TAIL} bytes left out ...]\n".encode() + said[-TAIL:]


def test_a_log_is_begun_anew(tmp_path: Path) -> None:
    path = tmp_path / "it.log"
    path.write_text("an old story, longer than the new one")
    log = BoundedLog(str(path), HEAD, TAIL)
    log.write(b"new")
    assert path.read_bytes() == b"new"
    log.close()
