"""Settings: every source, their order, and what an organiser is told when one is wrong."""

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from triarena.protocol.frames import TO_CLIENT
from triarena.server.settings import SECTIONS, ServerSettings, Settings
from triarena.server.settings_sources import KNOWN, SettingsError, client_variables, load_settings, unknown_variables
from triarena.server.settings_text import describe


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "triarena.toml"


def problems(**sources: Any) -> tuple[str, ...]:
    with pytest.raises(SettingsError) as refused:
        load_settings(**sources)
    assert refused.value.code == "bad_settings"
    assert refused.value.message == str(refused.value) == "\n".join(refused.value.problems)
    return refused.value.problems


def test_without_sources_there_are_defaults_for_one_machine() -> None:
    settings = load_settings()
    assert settings == Settings()
    assert (settings.server.host, settings.server.port) == ("127.0.0.1", 13055)
    assert (settings.clock.move_seconds, settings.clock.strikes) == (2.0, 0)


def test_a_later_source_wins_key_by_key(file: Path) -> None:
    file.write_text("[server]\nhost = '::1'\nport = 1\nlog_level = 'debug'\n[limits]\nrooms = 20\n")
    settings = load_settings(
        file,
        {"TRIARENA_SERVER__PORT": "2", "TRIARENA_SERVER__LOG_LEVEL": "error"},
        {"server.port": 3, "server.host": None},
    )
    assert settings.server.host == "::1"
    assert settings.server.log_level == "error"
    assert settings.server.port == 3
    assert settings.limits.rooms == 20
    assert settings.limits.connections == Settings().limits.connections


def test_every_setting_can_come_from_the_environment() -> None:
    environment: dict[str, str] = {}
    for name, section in SECTIONS.items():
        for key in section.model_fields:
            value = getattr(getattr(Settings(), name), key)
            if value is not None:
                environment[f"TRIARENA_{name}__{key}".upper()] = str(value)
    assert load_settings(environment=environment) == Settings()


def test_whole_numbers_are_good_enough_for_seconds(file: Path) -> None:
    file.write_text("[clock]\nmove_seconds = 3\n")
    assert load_settings(file, flags={"rooms.idle_seconds": 60}).clock.move_seconds == 3.0


@pytest.mark.parametrize("source", ["file", "environment", "flags"])
def test_a_path_may_begin_with_the_home_folder(source: str, file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(file.parent))
    monkeypatch.setenv("USERPROFILE", str(file.parent))
    file.write_text("[server]\ndata_dir = '~/data'\n")
    sources: dict[str, dict[str, Any]] = {
        "file": {"file": file},
        "environment": {"environment": {"TRIARENA_SERVER__DATA_DIR": "~/data"}},
        "flags": {"flags": {"server.data_dir": "~/data"}},
    }
    assert load_settings(**sources[source]).server.data_dir == file.parent / "data"


PATHS = ["server.data_dir", "server.port_file", "server.tls_certificate", "server.tls_key", "bots.tokens"]


def test_every_setting_that_names_a_file_is_one_of_these() -> None:
    found = [
        f"{name}.{key}"
        for name, section in SECTIONS.items()
        for key, field in section.model_fields.items()
        if "Path" in str(field.annotation)
    ]
    assert sorted(found) == sorted(PATHS)


@pytest.mark.parametrize("setting", PATHS)
def test_a_relative_path_starts_from_the_file_that_names_it_and_else_from_the_current_folder(
    setting: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    section, _, key = setting.partition(".")
    here, elsewhere = tmp_path / "here", tmp_path / "etc"
    here.mkdir()
    elsewhere.mkdir()
    monkeypatch.chdir(here)
    needed = "tls_certificate = '/x.pem'\n" if key == "tls_key" else ""
    (elsewhere / "triarena.toml").write_text(f"[{section}]\n{needed}{key} = 'files/one'\n")

    def told(**sources: Any) -> object:
        return getattr(getattr(load_settings(**sources), section), key)

    assert told(file=Path("../etc/triarena.toml")).resolve() == elsewhere / "files/one"  # type: ignore[attr-defined]
    certificate = {"server.tls_certificate": "/x.pem"} if key == "tls_key" else {}
    assert told(flags={setting: Path("two"), **certificate}) == here / "two"
    variable = f"TRIARENA_{section}__{key}".upper()
    assert told(environment={variable: "three"}, flags=certificate) == here / "three"
    (elsewhere / "triarena.toml").write_text(f"[{section}]\n{needed}{key} = '{tmp_path}/four'\n")
    assert told(file=elsewhere / "triarena.toml") == tmp_path / "four"


@pytest.mark.parametrize("setting", [*PATHS, "server.database"])
def test_a_path_is_told_without_the_ways_up_and_down_that_led_to_it(
    setting: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    section, _, key = setting.partition(".")
    scheme = "sqlite:///" if key == "database" else ""
    for folder in ("here", "etc"):
        (tmp_path / folder).mkdir()
    monkeypatch.chdir(tmp_path / "here")
    needed = "tls_certificate = '/x.pem'\n" if key == "tls_key" else ""
    (tmp_path / "etc" / "triarena.toml").write_text(f"[{section}]\n{needed}{key} = '{scheme}data/../one'\n")
    for sources in (
        {"file": Path("../etc/triarena.toml")},
        {"flags": {setting: f"{scheme}../etc/one", **({"server.tls_certificate": "/x.pem"} if needed else {})}},
    ):
        told = getattr(getattr(load_settings(**sources), section), key)
        assert str(told) == f"{scheme}{tmp_path.resolve() / 'etc' / 'one'}"
    with pytest.raises(SettingsError, match=re.escape(f"The settings file {tmp_path.resolve() / 'none.toml'} cannot")):
        load_settings(Path("../none.toml"))


@pytest.mark.parametrize(
    ("url", "meant"),
    [
        ("sqlite:///journal.db", "sqlite:///{folder}/journal.db"),
        ("sqlite:///50%25/j.db", "sqlite:///{folder}/50%25/j.db"),
        ("sqlite:////var/j.db", "sqlite:////var/j.db"),
        ("sqlite://", "sqlite://"),
        ("sqlite:///:memory:", "sqlite:///:memory:"),
        ("postgresql://u:p@host/name", "postgresql://u:p@host/name"),
    ],
)
def test_so_does_the_file_of_a_database(url: str, meant: str, file: Path) -> None:
    file.write_text(f"[server]\ndatabase = '{url}'\n")
    assert load_settings(file).server.database_url == meant.format(folder=file.parent)


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("TRIARENA_MOVE_TIME", "TRIARENA_CLOCK__MOVE_SECONDS"),
        ("TRIARENA_MOVE_SECONDS", "TRIARENA_CLOCK__MOVE_SECONDS"),
        ("TRIARENA_DATA_DIR", "TRIARENA_SERVER__DATA_DIR"),
        ("TRIARENA_TOKN", "TRIARENA_TOKEN"),
        ("TRIARENA_COFFEE", "--print-config"),
    ],
)
def test_a_variable_that_nobody_knows_is_told_with_what_may_be_meant(name: str, meant: str) -> None:
    (sentence,) = unknown_variables({name: "5"}, {"move_time": "clock.move_seconds"})
    assert name in sentence
    assert meant in sentence


def test_the_variables_of_clients_tools_and_others_are_none_of_these() -> None:
    known = dict.fromkeys([*KNOWN, "TRIARENA_TEST_POSTGRES", "TRIARENA_CLOCK__MOVE_SECONDS", "PATH", "XTRIARENA_A"], "")
    assert unknown_variables(known, {}) == []


def test_the_database_is_a_file_in_the_data_folder_unless_it_is_set(tmp_path: Path) -> None:
    settings = load_settings(flags={"server.data_dir": tmp_path / "50% of it"})
    assert settings.server.database_url == f"sqlite:///{tmp_path}/50%25%20of%20it/journal.sqlite3"
    url = "postgresql://triarena:pw@db/triarena"
    assert load_settings(environment={"TRIARENA_SERVER__DATABASE": url}).server.database_url == url


def test_other_peoples_variables_are_left_alone() -> None:
    assert (
        load_settings(environment={"TRIARENA_DEBUG": "1", "PATH": "/bin", "XTRIARENA_SERVER__PORT": "x"}) == Settings()
    )


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("[clock]\nmove_seconds = 'soon'", "clock.move_seconds must be a number above 0 and up to 86400, not 'soon'."),
        ("[clock]\nmove_seconds = nan", "clock.move_seconds must be a number above 0 and up to 86400, not nan."),
        ("[clock]\nmove_seconds = 0", "clock.move_seconds must be a number above 0 and up to 86400, not 0."),
        ("[server]\nport = 70000", "server.port must be a whole number from 0 to 65535, not 70000."),
        ("[server]\nport = '13055'", "server.port must be a whole number from 0 to 65535, not '13055'."),
        ("[server]\nport = true", "server.port must be a whole number from 0 to 65535, not True."),
        ("[server]\nhost = ''", "server.host must be a text that is not empty, not ''."),
        ("[server]\nport_file = ''", "server.port_file must be a text that is not empty, not ''."),
        ("[server]\nlog_format = 'xml'", "server.log_format must be one of auto, console, json, not 'xml'."),
        ("server = 3", "server must be a section with keys, not 3."),
        ("[rooms]\nidle_second = 3", "there is no setting rooms.idle_second, did you mean idle_seconds; [rooms] has "
         "idle_seconds, reservation_seconds, grace_seconds, resume_seconds."),
        ("[room]\nidle_seconds = 3", "there is no section [room], did you mean rooms; there are server, clock, limits, "
         "rooms, bots, socha."),
        ("[bots]\nrequired = 'yes'", "bots.required must be true or false, not 'yes'."),
        ("[server]\ntls_key = ''", "server.tls_key must be a text that is not empty, not ''."),
    ],
)  # fmt: skip
def test_an_error_names_the_file_the_key_the_value_and_what_is_allowed(file: Path, text: str, sentence: str) -> None:
    file.write_text(text)
    assert problems(file=file) == (f"{file}: {sentence}",)


def test_an_error_names_the_variable_of_the_environment() -> None:
    (problem,) = problems(environment={"TRIARENA_LIMITS__ROOMS": "many"})
    assert problem == (
        "The environment's TRIARENA_LIMITS__ROOMS: limits.rooms must be a whole number from 1 to 100000, not 'many'."
    )


def test_an_error_names_the_command_line() -> None:
    (problem,) = problems(flags={"server.port": -1})
    assert problem == "The command line: server.port must be a whole number from 0 to 65535, not -1."


def test_a_single_underscore_in_a_variable_is_noticed() -> None:
    (problem,) = problems(environment={"TRIARENA_SERVER_PORT": "1"})
    assert problem == "The environment: TRIARENA_SERVER_PORT is no setting; did you mean TRIARENA_SERVER__PORT?"


def test_all_that_is_wrong_is_told_at_once(file: Path) -> None:
    file.write_text("[server]\nport = -1\nhots = 'x'\n")
    found = problems(file=file, environment={"TRIARENA_CLOCK__STRIKES": "x"}, flags={"server.log_level": "loud"})
    assert len(found) == 4


def test_a_wrong_value_is_told_even_if_a_later_source_would_replace_it(file: Path) -> None:
    file.write_text("[server]\nport = -1\n")
    assert len(problems(file=file, flags={"server.port": 1})) == 1


def test_a_file_that_is_not_there_is_an_error(file: Path) -> None:
    (problem,) = problems(file=file)
    assert str(file) in problem
    assert "cannot be read" in problem


@pytest.mark.parametrize("content", [b"[server", b"a = 1\na = 2", b"\xff\xfe"])
def test_a_file_that_is_no_toml_is_an_error(file: Path, content: bytes) -> None:
    file.write_bytes(content)
    (problem,) = problems(file=file)
    assert f"The settings file {file} is not TOML" in problem


def test_strikes_need_a_hard_limit_that_is_not_below_the_limit(file: Path) -> None:
    file.write_text("[clock]\nmove_seconds = 20\n")
    assert load_settings(file).clock.move_seconds == 20
    (problem,) = problems(file=file, environment={"TRIARENA_CLOCK__STRIKES": "1"})
    assert "clock.hard_seconds (10) must be at least clock.move_seconds (20)" in problem
    assert load_settings(file, flags={"clock.strikes": 1, "clock.hard_seconds": 20}).clock.hard_seconds == 20


def test_a_budget_knows_no_strikes_and_an_increment_is_nothing_without_one() -> None:
    (problem,) = problems(flags={"clock.budget_seconds": 300.0, "clock.strikes": 1})
    assert "set clock.strikes or clock.budget_seconds to 0" in problem
    (problem,) = problems(flags={"clock.increment_seconds": 2.0})
    assert "set clock.budget_seconds, too" in problem


def test_a_client_cannot_be_allowed_more_rooms_than_there_are() -> None:
    (problem,) = problems(flags={"limits.rooms": 3})
    assert "limits.rooms_per_connection (16) must be at most limits.rooms (3)" in problem


def test_the_queue_of_a_client_holds_more_than_the_longest_message() -> None:
    with pytest.raises(SettingsError, match="queue_bytes"):
        load_settings(None, {"TRIARENA_LIMITS__QUEUE_BYTES": str(TO_CLIENT)}, {})


def test_settings_cannot_be_changed() -> None:
    with pytest.raises(ValidationError):
        Settings().clock.strikes = 1  # type: ignore[misc]


def test_the_description_is_a_settings_file_of_the_defaults(file: Path) -> None:
    file.write_text(describe(), encoding="utf-8")
    assert load_settings(file) == Settings()


def test_the_description_shows_and_explains_every_setting() -> None:
    text = describe()
    for name, section in SECTIONS.items():
        assert f"[{name}]" in text
        for key, field in section.model_fields.items():
            assert f"\n{key} = " in text or f"\n# {key} = " in text
            assert field.description


def test_the_description_of_other_settings_is_a_file_of_those(file: Path, tmp_path: Path) -> None:
    server = ServerSettings(port=0, port_file=tmp_path / 'a "b" \\c', data_dir=tmp_path / "Größe\x7f\t")
    settings = Settings(server=server)
    file.write_text(describe(settings), encoding="utf-8")
    assert load_settings(file) == settings


def test_an_example_in_the_description_may_be_put_to_use() -> None:
    text = describe().replace("# port_file", "port_file").replace("# database =", "database =")
    text = text.replace("# tls_", "tls_")
    server = tomllib.loads(text)["server"]
    assert set(server) == set(ServerSettings.model_fields)


@pytest.mark.parametrize(
    "url",
    ["postgresql://joe:tuna@carp@db/x", "postgresql://joe:tuna:carp@db/x", "postgresql://db/x?password=tunacarp"],
)
def test_a_password_of_the_database_is_never_shown(url: str, file: Path) -> None:
    settings = Settings(server=ServerSettings(database=url))
    for text in (describe(settings), repr(settings)):
        assert "tuna" not in text
        assert "carp" not in text
    file.write_text(f"[server]\ndatabase = ['{url}']\n")
    assert problems(file=file) == (f"{file}: server.database must be a text that is not empty.",)


@pytest.mark.parametrize(
    ("environment", "named"),
    [
        ({"TRIARENA_PORT": "14000"}, "TRIARENA_SERVER__PORT=14000"),
        ({"TRIARENA_HOST": "0.0.0.0"}, "TRIARENA_SERVER__HOST=0.0.0.0"),
        ({"TRIARENA_PORT": "13055"}, ""),
        ({"TRIARENA_PORT": "14000", "TRIARENA_SERVER__PORT": "14001"}, ""),
        ({}, ""),
    ],
)
def test_a_variable_of_the_clients_that_was_perhaps_meant_for_the_server_is_told(
    environment: dict[str, str], named: str
) -> None:
    sentences = client_variables(environment, load_settings(None, environment, {}))
    assert [named in sentence for sentence in sentences] == [True] * bool(named)


@pytest.mark.parametrize(("value", "told"), [(-1.0, "-1"), (-0.5, "-0.5")])
def test_a_number_that_is_refused_is_told_as_it_was_typed(value: float, told: str) -> None:
    with pytest.raises(SettingsError, match=f", not {told}[.]( |$|\n)"):
        load_settings(None, {}, {"clock.move_seconds": value})
