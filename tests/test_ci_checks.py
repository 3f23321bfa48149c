"""The checks of CI find what they are there for."""

from __future__ import annotations

from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from zipfile import ZipFile

import pytest

ROOT = Path(__file__).parents[1]


def load(name: str) -> ModuleType:
    spec = spec_from_file_location(name, ROOT / ".ci" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    "text",
    [
        "see " + ".".join(("files", "pythonhosted", "org")),
        "index = 'https://example.invalid/" + "simple'",
        "cd /" + "root/project",
        '"/' + 'home/somebody"',
    ],
)
def test_hosts_and_paths_of_a_machine_are_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    check = load("check_tree")
    monkeypatch.setattr(check, "ROOT", tmp_path)
    (tmp_path / "page.md").write_text("fine\n" + text)
    assert [sentence.partition(": ")[0] for sentence in check.findings("page.md")] == ["page.md:2"]


@pytest.mark.parametrize("text", ["a/work/b", "~/home/x", "the network/home/office", "/etc/ssl/certs", "./root/x"])
def test_ordinary_text_is_left_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    check = load("check_tree")
    monkeypatch.setattr(check, "ROOT", tmp_path)
    (tmp_path / "page.md").write_text(text)
    assert list(check.findings("page.md")) == []


def test_a_tracked_lock_file_is_found() -> None:
    (sentence,) = load("check_tree").findings("sub/uv.lock")
    assert sentence.startswith("sub/uv.lock: a lock file")


def test_a_wheel_without_a_module_or_with_tests_is_found(tmp_path: Path) -> None:
    check = load("check_wheel")
    files = sorted(check.expected_files())
    with ZipFile(tmp_path / "triarena.whl", "w") as wheel:
        for name in files[1:]:
            wheel.writestr(name, "")
        wheel.writestr("tests/test_x.py", "")
        wheel.writestr("triarena/__init__.py", "")
        wheel.writestr("triarena-1.dist-info/entry_points.txt", "[console_scripts]\ntriarena = triarena.cli:main\n")
        wheel.writestr("triarena-1.dist-info/licenses/LICENSE", "")
    with ZipFile(tmp_path / "triarena.whl") as wheel:
        found = check.findings(wheel)
    assert found == [
        f"{files[0]} is missing",
        "tests/test_x.py does not belong into it",
        "triarena/__init__.py does not belong into it",
        "triarena/__init__.py closes the namespace to other distributions",
        "there are tests in it",
    ]


def test_pins_outside_the_asked_range_are_found(tmp_path: Path) -> None:
    check, path = load("check_requirements"), tmp_path / "server.txt"
    path.write_text("Click==7.0 \\\n    --hash=sha256:00\nrich==14.0 ; os_name == 'nt' \\\n    --hash=sha256:00\n")
    assert check.findings(["click>=8.1", "rich>=13", "trio"], path) == [
        "server.txt pins Click==7.0, but pyproject.toml asks for click>=8.1",
        "server.txt does not pin trio",
    ]


@pytest.mark.parametrize("line", ["click==8.1", "click>=8 --hash=sha256:00"])
def test_requirements_without_pin_or_hash_are_refused(tmp_path: Path, line: str) -> None:
    path = tmp_path / "server.txt"
    path.write_text(line + "\n")
    with pytest.raises(ValueError, match=r"has no hashes|is not pinned"):
        load("check_requirements").pins(path)


@pytest.mark.parametrize("root", ["games", "protocol", "server", "clients"])
def test_the_namespace_stays_open_to_other_distributions(root: str) -> None:
    assert (ROOT / root / "triarena").is_dir()
    assert not (ROOT / root / "triarena" / "__init__.py").exists()
