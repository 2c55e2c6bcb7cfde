"""Where things lie: the only module that reads the environment."""

import os
from pathlib import Path
from typing import Any

from tessera import _native

_package = Path(__file__).resolve().parent


def _holding(name: str) -> Path:
    """The package itself, or the source tree that it was built in."""
    return _package if (_package / name).is_dir() else Path(_native.source_directory)


def cache() -> Path:
    """The folder of results that are kept, the same as that of the program `tessera`: $XDG_CACHE_HOME/tessera or
    ~/.cache/tessera."""
    kept = os.environ.get("XDG_CACHE_HOME", "")
    return (Path(kept) if os.path.isabs(kept) else Path.home() / ".cache") / "tessera"


def shipped_model() -> Path:
    """The checkpoint that ships with Tessera: a Qwen3 of 0.8 million parameters that adds, subtracts, sorts and counts."""
    return _holding("models") / "models" / "tessera-tiny"


def compiling() -> dict[str, Any]:
    """What compiling needs of the system."""
    return {
        "include_directory": _holding("include") / "include",
        "cache_directory": cache() / "code",
        "search_path": os.environ.get("PATH", os.defpath),
        "measured_machines": cache(),
    }


def opening() -> dict[str, Any]:
    """What opening a model needs of the system."""
    return {**compiling(), "models_directory": cache() / "models", "program": Path(_native.__file__)}
