"""The registry of frozen methods: what the bundled papers' methods were, and who was held out."""

from __future__ import annotations

import copy
import hashlib
import tomllib
from collections.abc import Callable, Mapping
from importlib import resources
from typing import Any

import pytest

from data.corpus import bundled_papers

Registry = dict[str, dict[str, Any]]


def digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


METHODS = {paper.id: (paper.root / "methods.json").read_bytes() for paper in bundled_papers()}
REGISTRY: Registry = tomllib.loads(
    resources.files("data").joinpath("registries/methods_frozen.toml").read_text()
)


def broken(registry: Registry, methods: Mapping[str, bytes]) -> set[str]:
    """Papers whose methods are neither as they were frozen nor edited with a reason."""
    found = set(registry) ^ set(methods)
    for paper in set(registry) & set(methods):
        entry = registry[paper]
        history = [entry["sha256"], *(edit["sha256"] for edit in entry["edits"])]
        reasons = [edit["reason"].strip() for edit in entry["edits"]]
        if history[-1] != digest(methods[paper]) or not all(reasons):
            found.add(paper)
        if len(set(history)) < len(history):
            found.add(paper)
    return found


def first_third(papers: Mapping[str, object]) -> set[str]:
    ordered = sorted(papers, key=lambda paper: digest(paper.encode()))
    return set(ordered[: len(ordered) // 3])


def test_every_bundled_papers_methods_are_as_frozen_or_edited_with_a_reason() -> None:
    assert broken(REGISTRY, METHODS) == set()
    assert all(set(entry) == {"sha256", "held_out", "edits"} for entry in REGISTRY.values())
    assert all(set(edit) == {"sha256", "reason"} for e in REGISTRY.values() for edit in e["edits"])


def test_the_held_out_papers_are_the_first_third_by_hash_of_their_ids() -> None:
    assert len(REGISTRY) == 15
    assert {paper for paper, entry in REGISTRY.items() if entry["held_out"]} == first_third(METHODS)
    assert len(first_third(METHODS)) == 5


def _edit(**values: str) -> Callable[[dict[str, Any]], None]:
    return lambda entry: entry["edits"].append(values)


PAPER = "wooldridge_card_2010"
CHANGED = METHODS[PAPER] + b"\n"


@pytest.mark.parametrize(
    ("change", "content", "sound"),
    [
        (lambda entry: None, METHODS[PAPER], True),
        (lambda entry: None, CHANGED, False),
        (_edit(sha256=digest(CHANGED), reason="a variable's name"), CHANGED, True),
        (_edit(sha256=digest(CHANGED), reason=" "), CHANGED, False),
        (_edit(sha256=digest(b"other"), reason="a variable's name"), CHANGED, False),
        (_edit(sha256=digest(METHODS[PAPER]), reason="nothing"), METHODS[PAPER], False),
    ],
)
def test_an_edit_without_its_hash_and_reason_is_seen(
    change: Callable[[dict[str, Any]], None], content: bytes, sound: bool
) -> None:
    registry = copy.deepcopy(REGISTRY)
    change(registry[PAPER])
    assert broken(registry, METHODS | {PAPER: content}) == (set() if sound else {PAPER})


def test_a_paper_without_an_entry_is_seen() -> None:
    fewer = {paper: entry for paper, entry in REGISTRY.items() if paper != PAPER}
    assert broken(fewer, METHODS) == {PAPER}
    assert broken(REGISTRY, METHODS | {"new": b""}) == {"new"}
