"""What tests of managers share."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.managers.folding_sessions import Backend


@pytest.fixture(params=["memory", "sqlite"])
def backend(request: pytest.FixtureRequest, tmp_path: Path) -> Backend:
    """A place for logs: memory, and a SQLite file."""
    return Backend(tmp_path / "log.db" if request.param == "sqlite" else None)
