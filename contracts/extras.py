"""What an adapter says when its library is not installed."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager

__all__ = ["needs_extra"]


@contextmanager
def needs_extra(extra: str) -> Generator[None]:
    """Stands around the imports of what `extra` brings, so that the error tells how to get it.

        with needs_extra("faiss"):
            import faiss

    Raises `ModuleNotFoundError` for a package that is missing, with its name.
    """
    try:
        yield
    except ModuleNotFoundError as error:
        told = f"this adapter needs the package {error.name}: pip install 'contextport[{extra}]'"
        raise ModuleNotFoundError(told, name=error.name) from error
