"""docs/corpus.md says what the papers and the registries say."""

from __future__ import annotations

import importlib.util
from pathlib import Path

from data.corpus import bundled_papers

ROOT = Path(__file__).parents[2]


def test_the_page_is_current() -> None:
    spec = importlib.util.spec_from_file_location("corpus_page", ROOT / "tools" / "corpus_page.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert (ROOT / "docs" / "corpus.md").read_text() == module.page(bundled_papers())
