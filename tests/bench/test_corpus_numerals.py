"""The leak linter: what it catches, what it lets pass, and what it never misses."""

from __future__ import annotations

import csv
import json
import re
from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.corpus.numerals import (
    PublishedNumbers,
    method_leaks,
    number_tokens,
    parameter_leaks,
    texts_of,
)

PUBLISHED = PublishedNumbers.of([(-1.25, 2), (1234.0, 0), (0.6, 1), (0.0, 3), (2.0, 2), (9.0, 0)])


def _leaks(text: str) -> list[str]:
    return list(method_leaks([("here", text)], PUBLISHED, where="methods.json"))


@pytest.mark.parametrize(
    "text",
    [
        "the slope is 1.25",
        "the slope is -1.25.",
        "N=1,234",
        "1234 observations",
        "(1.250)",
        "about 0.604",
        "x > 2",
        "9 groups",
        "value_1234",
        "slope1.25b",
    ],
)
def test_a_published_number_is_caught(text: str) -> None:
    assert len(_leaks(text)) == 1


@pytest.mark.parametrize(
    "text",
    [
        "no number",
        "in 1985",
        "re74 and hc9",
        "x2 squared",
        "1.3 and 12345",
        "coded 0 and 1",
        "0.05",
        "nine groups",
        "0.66",
    ],
)
def test_other_numbers_pass(text: str) -> None:
    assert _leaks(text) == []


@given(
    st.integers(1, 10**7),
    st.integers(0, 5),
    st.sampled_from(["{}", "-{}", "({})", "about {}.", "N={},", "{} per cent", "[{}; 7777777777]"]),
)
def test_no_published_value_hides_in_a_sentence(scaled: int, decimals: int, sentence: str) -> None:
    text = f"{scaled / 10**decimals:.{decimals}f}"
    published = PublishedNumbers.of([(float(text), decimals)])
    if not Decimal(text):
        return
    found = method_leaks([("", sentence.format(text))], published, where="")
    assert list(found)


@given(st.text())
def test_any_text_can_be_searched(text: str) -> None:
    for token, _ in number_tokens(text):
        Decimal(token.replace(",", ""))
    _leaks(text)


def test_texts_of_reaches_keys_and_depths() -> None:
    values = {"a": [{"b": "one"}, "two"], "key": 3}
    assert [text for _, text in texts_of(values)] == ["a", "b", "one", "two", "key"]


def test_parameters_that_equal_a_value_must_be_declared() -> None:
    parameters = {"limit": 1234.0, "steps": 2.0, "other": 5000.0, "groups": 9.0, "shift": -1.25}
    said = list(parameter_leaks(parameters, PUBLISHED, ["shift"]))
    assert len(said) == 1
    assert "parameters.limit: 1234 equals" in said[0]


def test_a_declared_parameter_that_does_not_exist_is_named() -> None:
    assert "which methods.json does not have" in next(parameter_leaks({}, PUBLISHED, ["gone"]))


@pytest.mark.parametrize(
    "root",
    sorted((Path(__file__).parents[2] / "data/papers").glob("*/methods.json")),
    ids=lambda p: p.parent.name,
)
def test_bundled_methods_hold_no_published_number(root: Path) -> None:
    """By a second way: every number of every text against every printed string, as strings."""
    with (root.parent / "truth.csv").open(newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["truth_kind"] != "unverified"]
    printed = {row["published"].lstrip("-−<").replace(",", "") for row in rows}
    printed |= {text.lstrip("0") for text in printed if text.lstrip("0").startswith(".")}
    printed |= {f"0{text}" for text in printed if text.startswith(".")}
    informative = {text for text in printed if sum(c.isdigit() for c in text.strip("0.")) >= 2}
    texts = [text for _, text in texts_of(json.loads(root.read_bytes()))]
    numbers = {
        n
        for text in texts
        for n in re.findall(r"(?<![A-Za-z_\d.])\d*\.?\d+", text.replace(",", ""))
    }
    assert numbers & informative == set()
