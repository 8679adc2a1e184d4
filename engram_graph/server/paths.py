"""Where this package keeps files on the machine: data in one folder, fetched jars in another."""

from __future__ import annotations

import os
from pathlib import Path

APP_NAME = "engram_graph"


def data_dir() -> Path:
    """Folder of the embedded database: ``ENGRAM_HOME``, else the user's data folder.

    Absolute, not created here. A blank ``ENGRAM_HOME`` counts as unset.
    """
    named = _from_environment("ENGRAM_HOME")
    if named is not None:
        return named
    # Imported late: it costs 13 ms and is not needed when the variable is set.
    from platformdirs import user_data_dir

    return Path(user_data_dir(APP_NAME, appauthor=False))


def cache_dir() -> Path:
    """Folder of the fetched jars: ``ENGRAM_CACHE``, else the user's cache folder.

    Absolute, not created here; shared by every data folder of the user, safe to delete while no
    embedded server runs.
    """
    named = _from_environment("ENGRAM_CACHE")
    if named is not None:
        return named
    from platformdirs import user_cache_dir

    return Path(user_cache_dir(APP_NAME, appauthor=False))


def _from_environment(name: str) -> Path | None:
    value = os.environ.get(name, "").strip()
    return Path(value).expanduser().absolute() if value else None
