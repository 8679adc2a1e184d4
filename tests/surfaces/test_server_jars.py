"""The pinned jars: offline once fetched, fetched again when damaged, and never a wrong one."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from engram_graph.errors import ServerError
from engram_graph.server import cache_dir, ensure_jars, install


def link(source: str, target: str) -> None:
    """187 MB need not be copied."""
    install._link(Path(source), Path(target))


@pytest.fixture(scope="module")
def own_cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A cache of our own with the fetched files of the user's, so that it may be damaged."""
    ensure_jars(cache_dir())
    own = tmp_path_factory.mktemp("cache")
    shutil.copytree(cache_dir() / "maven", own / "maven", copy_function=link)
    return own


def test_jars_offline_once_fetched(
    own_cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[tuple[int, int]] = []
    lib = ensure_jars(own_cache, lambda done, total: seen.append((done, total)), offline=True)
    assert len(list(lib.glob("*.jar"))) == 242
    assert seen[0] == (0, 242)
    assert seen[-1] == (242, 242)
    seen.clear()
    with monkeypatch.context() as patch:  # nothing is fetched, linked or hashed again
        patch.setattr(install, "_build", lambda *_: pytest.fail("built again"))
        assert ensure_jars(own_cache, lambda *step: seen.append(step), offline=True) == lib
    assert seen == []
    with pytest.raises(ServerError, match="could not be fetched"):
        ensure_jars(tmp_path / "empty", offline=True)
    assert not list((tmp_path / "empty").glob("neo4j-*/lib"))


def test_damaged_jars_are_noticed_and_fetched_again(own_cache: Path) -> None:
    lib = ensure_jars(own_cache, offline=True)
    jar = min(lib.glob("*.jar"), key=lambda path: path.stat().st_size)
    right = jar.read_bytes()
    [source] = (own_cache / "maven").rglob(jar.name)
    # Replaced, not written into: these files are linked with the user's cache.
    for path in (jar, source):
        path.unlink()
        path.write_bytes(b"half a j")
    assert ensure_jars(own_cache) == lib
    assert jar.read_bytes() == right
    assert source.read_bytes() == right

    (lib / "stray.jar").write_bytes(b"")
    jar.unlink()
    assert ensure_jars(own_cache, offline=True) == lib
    assert jar.read_bytes() == right
    assert not (lib / "stray.jar").exists()


def test_jar_that_is_never_right_is_refused(own_cache: Path, tmp_path: Path) -> None:
    lines = install.LOCK_PATH.read_text(encoding="utf-8").splitlines()
    smallest = min((own_cache / "maven").rglob("*.jar"), key=lambda path: path.stat().st_size).name
    [line] = [line for line in lines if install.parse_lock(line)[0].filename == smallest]
    lock = tmp_path / "lock"
    lock.write_text(line.split(" ")[0] + " sha256:" + "0" * 64, encoding="utf-8")
    with pytest.raises(ServerError, match="SHA-256"):
        ensure_jars(tmp_path, lock_path=lock)
    assert not list(tmp_path.glob("neo4j-*/lib"))
