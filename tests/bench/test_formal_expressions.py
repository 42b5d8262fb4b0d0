"""The language of the methods: what an expression means, and what is refused.

Meaning is checked row by row against an evaluator that stands here, over trees that are made at
random and written with as few brackets as the precedence of the operators allows.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial, reduce
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bench.arms.formal import econometrics as eco
from bench.arms.formal.expressions import (
    Expression,
    ExpressionError,
    compiled_expression,
    interaction_parts,
)

NAN = float("nan")
FRAME = pd.DataFrame(
    {
        "unit": [1, 1, 1, 2, 2, 2],
        "year": [1990, 1991, 1992, 1990, 1991, 1993],
        "x": [1.0, 2.0, NAN, 4.0, -5.0, 0.0],
        "z": [0.5, NAN, 2.0, 8.0, 3.0, 1.0],
        "female": [0, 1, 1, 0, 1, 0],
        "children": [0, 2, 1, 3, 1, 0],
        "group": ["b", "a", "c", "a", "b", "c"],
        "two words": [1.0, 2.0, 3.0, 4.0, 5.0, 6.0],
    }
)
PARAMETERS = {"cutoff": 2.0, "first_year": 1991.0}


def compiled(text: str, frame: pd.DataFrame = FRAME) -> Expression:
    return compiled_expression(text, variables=list(frame.columns), parameters=PARAMETERS)


def evaluated(text: str, frame: pd.DataFrame = FRAME) -> Any:
    """What the compiled source gives, as in a script: names of the language and nothing else."""
    names = {"np": np, "pd": pd, "eco": eco, "d": frame, **PARAMETERS}
    names["panel"] = eco.Panel(frame, "unit", "year")
    with np.errstate(all="ignore"):
        return eval(compiled(text, frame).source, {"__builtins__": {"float": float}}, names)


def same(found: Any, wanted: list[Any]) -> None:
    assert isinstance(found, pd.Series)
    np.testing.assert_allclose(found.to_numpy(dtype=float), np.array(wanted, dtype=float))


# ------------------------------------------------------------------ each word of the language


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("x", [1, 2, NAN, 4, -5, 0]),
        ("two words", [1, 2, 3, 4, 5, 6]),
        ("x + z", [1.5, NAN, NAN, 12, -2, 1]),
        ("x - z", [0.5, NAN, NAN, -4, -8, -1]),
        ("x * z", [0.5, NAN, NAN, 32, -15, 0]),
        ("x / z", [2, NAN, NAN, 0.5, -5 / 3, 0]),
        ("z / x", [0.5, NAN, NAN, 2, -0.6, math.inf]),
        ("x ** 2", [1, 4, NAN, 16, 25, 0]),
        ("x ** (1 / 2)", [1, math.sqrt(2), NAN, 2, NAN, 0]),
        ("-x", [-1, -2, NAN, -4, 5, 0]),
        ("x + cutoff", [3, 4, NAN, 6, -3, 2]),
        ("year - first_year", [-1, 0, 1, -1, 0, 2]),
        ("log(z)", [math.log(0.5), NAN, math.log(2), math.log(8), math.log(3), 0]),
        ("log(x)", [0, math.log(2), NAN, math.log(4), NAN, -math.inf]),
        ("exp(female)", [1, math.e, math.e, 1, math.e, 1]),
        ("sqrt(children)", [0, math.sqrt(2), 1, math.sqrt(3), 1, 0]),
        ("square(x)", [1, 4, NAN, 16, 25, 0]),
        ("cube(x)", [1, 8, NAN, 64, -125, 0]),
        ("abs(x)", [1, 2, NAN, 4, 5, 0]),
        ("min(x, z)", [0.5, NAN, NAN, 4, -5, 0]),
        ("max(x, z, 1)", [1, NAN, NAN, 8, 3, 1]),
        ("children - min(children)", [0, 2, 1, 3, 1, 0]),
        ("children - max(children)", [-3, -1, -2, 0, -2, -3]),
        ("rank(children)", [1.5, 5, 3.5, 6, 3.5, 1.5]),
        ("where(female == 1, children, 0)", [0, 2, 1, 0, 1, 0]),
        ("indicator(missing(x))", [0, 0, 1, 0, 0, 0]),
        ("indicator(not missing(x))", [1, 1, 0, 1, 1, 1]),
        # A comparison with a missing value does not hold, but for "differs", as in IEEE numbers.
        ("indicator(x > 1)", [0, 1, 0, 1, 0, 0]),
        ("indicator(x >= 1)", [1, 1, 0, 1, 0, 0]),
        ("indicator(x < 1)", [0, 0, 0, 0, 1, 1]),
        ("indicator(x <= 1)", [1, 0, 0, 0, 1, 1]),
        ("indicator(x == 1)", [1, 0, 0, 0, 0, 0]),
        ("indicator(x != 1)", [0, 1, 1, 1, 1, 1]),
        ("indicator(not x > 1)", [1, 0, 1, 0, 1, 1]),
        ("indicator(0 < x <= 2)", [1, 1, 0, 0, 0, 0]),
        ("indicator(group == 'a')", [0, 1, 0, 1, 0, 0]),
        ('indicator(group in ("a", "b"))', [1, 1, 0, 1, 1, 0]),
        ("indicator(group not in ['a', 'b'])", [0, 0, 1, 0, 0, 1]),
        ("indicator(year in (first_year, 1993))", [0, 1, 0, 0, 1, 1]),
        ("indicator(x in (1, 4))", [1, 0, 0, 1, 0, 0]),
        ("indicator(x > 0 and z > 1)", [0, 0, 0, 1, 0, 0]),
        ("indicator(x > 0 or z > 1)", [1, 1, 1, 1, 1, 0]),
        ("indicator(female == 1 and not children > 1)", [0, 0, 1, 0, 1, 0]),
        ("indicator(female == 1 or x > 3 and z > 100)", [0, 1, 1, 0, 1, 0]),
        ("lag(x)", [NAN, 1, 2, NAN, 4, NAN]),
        ("lag(x, 2)", [NAN, NAN, 1, NAN, NAN, -5]),
        ("lag(x, cutoff)", [NAN, NAN, 1, NAN, NAN, -5]),
        ("lead(x)", [2, NAN, NAN, -5, NAN, NAN]),
        ("difference(x)", [NAN, 1, NAN, NAN, -9, NAN]),
        ("difference(x, 2)", [NAN, NAN, NAN, NAN, NAN, 5]),
        ("difference(difference(children))", [NAN, NAN, -3, NAN, NAN, NAN]),
        ("cumulative(children)", [0, 2, 3, 3, 4, 4]),
        ("group_mean(x)", [1.5, 1.5, 1.5, -1 / 3, -1 / 3, -1 / 3]),
        ("group_sum(x)", [3, 3, 3, -1, -1, -1]),
        ("group_mean(children, group)", [0.5, 2.5, 0.5, 2.5, 0.5, 0.5]),
        ("group_sum(children, group)", [1, 5, 1, 5, 1, 1]),
        ("children - group_mean(children)", [-1, 1, 0, 5 / 3, -1 / 3, -4 / 3]),
        ("x:z", [0.5, NAN, NAN, 32, -15, 0]),
        ("x : female : children", [0, 4, NAN, 0, -5, 0]),
        ("log(z):female", [0, NAN, math.log(2), 0, math.log(3), 0]),
        ("x + z:female", [0, NAN, NAN, 0, -2, 0]),
    ],
)
def test_a_word_means_what_it_says(text: str, wanted: list[float]) -> None:
    same(evaluated(text) * 1.0, wanted)


def test_standardize_uses_the_sample_standard_deviation() -> None:
    wanted = [-7 / 6, 5 / 6, -1 / 6, 11 / 6, -1 / 6, -7 / 6]
    spread = math.sqrt(sum(one**2 for one in wanted) / 5)
    same(evaluated("standardize(children)"), [one / spread for one in wanted])


@pytest.mark.parametrize(
    ("text", "levels"),
    [
        ("category(group)", {"b": [1, 0, 0, 0, 1, 0], "c": [0, 0, 1, 0, 0, 1]}),
        ('category(group, "b")', {"a": [0, 1, 0, 1, 0, 0], "c": [0, 0, 1, 0, 0, 1]}),
        ("category(female)", {"1": [0, 1, 1, 0, 1, 0]}),
        ("category(female, 1)", {"0": [1, 0, 0, 1, 0, 1]}),
        ('category(female, "1")', {"0": [1, 0, 0, 1, 0, 1]}),
        (
            "category(group):children",
            {"b": [0, 0, 0, 0, 1, 0], "c": [0, 0, 1, 0, 0, 0]},
        ),
        ("children:category(female)", {"1": [0, 2, 1, 0, 1, 0]}),
        (
            "category(group):category(female)",
            {"b:1": [0, 0, 0, 0, 1, 0], "c:1": [0, 0, 1, 0, 0, 0]},
        ),
    ],
)
def test_a_category_is_one_indicator_a_level(text: str, levels: dict[str, list[float]]) -> None:
    found = evaluated(text)
    assert {str(name): list(found[name]) for name in found.columns} == levels


def test_a_level_that_does_not_occur_cannot_be_left_out() -> None:
    with pytest.raises(eco.Undetermined, match="'d' does not occur"):
        evaluated('category(group, "d")')


def test_names_that_an_expression_uses_are_told() -> None:
    found = compiled("log(x + cutoff):two words")
    assert found.variables == {"x", "two words"}
    assert found.parameters == {"cutoff"}


@pytest.mark.parametrize(
    ("term", "parts"),
    [
        ("x", ("x",)),
        ("x:z", ("x", "z")),
        (" log(x) : z ", ("log(x)", "z")),
        ('category(group, "a:b"):x', ('category(group, "a:b")', "x")),
        ("where(x > 1, x, z):z", ("where(x > 1, x, z)", "z")),
        ("x:", ("x", "")),
    ],
)
def test_interactions_are_split_outside_brackets_and_quotes(
    term: str, parts: tuple[str, ...]
) -> None:
    assert interaction_parts(term) == parts


def test_a_variable_goes_before_a_parameter_of_the_same_name() -> None:
    found = compiled_expression("x + 1", variables=["x"], parameters=["x"])
    assert found.variables == {"x"}
    assert found.parameters == frozenset()


# ------------------------------------------------------------------ against an evaluator by hand


@dataclass(frozen=True)
class Tree:
    """An expression as it is meant: an operator or function, and what it is applied to."""

    word: str
    parts: tuple[Tree, ...] = ()


STRENGTH = {"or": 1, "and": 2, "not": 3, "+": 5, "-": 5, "*": 6, "/": 6, "negative": 7, "**": 8}
STRENGTH |= dict.fromkeys(["==", "!=", "<", "<=", ">", ">=", "in", "not in", "between"], 4)
UNARY = ("log", "exp", "sqrt", "abs", "square", "cube")


def written(tree: Tree) -> str:
    """The expression with no more brackets than it needs."""
    word, parts = tree.word, tree.parts
    if not parts:
        return word
    own = STRENGTH.get(word)
    if own is None:
        return f"{word}({', '.join(written(part) for part in parts)})"

    def inner(part: Tree, at_least: int) -> str:
        bare = STRENGTH.get(part.word, 9) >= at_least
        return written(part) if bare else f"({written(part)})"

    if word == "not":
        return f"not {inner(parts[0], 3)}"
    if word == "negative":
        return f"-{inner(parts[0], 7)}"
    if word == "**":
        return f"{inner(parts[0], 9)} ** {inner(parts[1], 7)}"
    if word in {"in", "not in"}:
        values = ", ".join(written(part) for part in parts[1:])
        return f"{inner(parts[0], 5)} {word} [{values}]"
    if word == "between":
        return " < ".join(inner(part, 5) for part in parts)
    return f"{inner(parts[0], own + (own == 4))} {word} {inner(parts[1], own + 1)}"


def _one(function: Callable[..., Any], *values: Any) -> Any:
    return function(*(np.array([value], dtype=float) for value in values))[0]


def _root(value: Any) -> Any:
    return np.float64(NAN if value < 0 else math.sqrt(value))


MEANING: dict[str, Callable[..., Any]] = {
    "or": lambda a, b: a or b,
    "and": lambda a, b: a and b,
    "not": lambda a: not a,
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "/": lambda a, b: a / b,
    "**": lambda a, b: _root(a) if b == 0.5 else _one(np.power, a, b),
    "negative": lambda a: -a,
    "==": lambda a, b: bool(a == b),
    "!=": lambda a, b: bool(a != b),
    "<": lambda a, b: bool(a < b),
    "<=": lambda a, b: bool(a <= b),
    ">": lambda a, b: bool(a > b),
    ">=": lambda a, b: bool(a >= b),
    "between": lambda a, b, c: bool(a < b) and bool(b < c),
    "in": lambda a, *values: any(a == value for value in values),
    "not in": lambda a, *values: not any(a == value for value in values),
    "log": lambda a: _one(np.log, a),
    "exp": lambda a: _one(np.exp, a),
    "sqrt": lambda a: _root(a),
    "abs": lambda a: np.float64(math.fabs(a)),
    "square": lambda a: a * a,
    "cube": lambda a: _one(np.power, a, 3.0),
    "min": lambda *values: reduce(partial(_one, np.minimum), values),
    "max": lambda *values: reduce(partial(_one, np.maximum), values),
    "where": lambda condition, yes, no: yes if condition else no,
    "indicator": lambda a: np.float64(1 if a else 0),
    "missing": lambda a: math.isnan(a),
}


def meant(tree: Tree, row: dict[str, float]) -> Any:
    """Value of the expression in one row."""
    if not tree.parts:
        return np.float64(row[tree.word] if tree.word in row else float(tree.word))
    return MEANING[tree.word](*(meant(part, row) for part in tree.parts))


COLUMNS = ("x", "z", "y")
NUMBERS = ("0.0", "1.0", "2.0", "3.5", "0.25", "10.0")


@st.composite
def numbers(draw: st.DrawFn, depth: int = 4, plain: bool = False) -> Tree:
    """An expression with a number a row; a plain number as well where it says so."""
    if plain and draw(st.booleans()):
        return Tree(draw(st.sampled_from(NUMBERS)))
    word = draw(st.sampled_from(["column", *"+-*/", "**", "negative", "indicator", "where",
                                 "min", "max", *UNARY]))  # fmt: skip
    if depth == 0 or word == "column":
        return Tree(draw(st.sampled_from(COLUMNS)))
    first = numbers(depth - 1)
    either = numbers(depth - 1, plain=True)
    if word == "indicator":
        return Tree(word, (draw(conditions(depth - 1)),))
    if word == "where":
        return Tree(word, (draw(conditions(depth - 1)), draw(either), draw(either)))
    if word in UNARY or word == "negative":
        return Tree(word, (draw(first),))
    if word == "**":
        exponent = draw(st.sampled_from(["2", "3", "0.5", "1"]))
        power = Tree("negative", (Tree("1"),)) if exponent == "1" else Tree(exponent)
        return Tree(word, (draw(first), power))
    if word == "max":
        return Tree(word, (draw(first), draw(either), draw(either)))
    # One side varies, and nothing is divided by a plain zero.
    pair = [draw(first), draw(either)]
    if draw(st.booleans()) and word != "min":
        pair.reverse()
    if word == "/" and pair[1].word == "0.0":
        pair[1] = Tree("2")
    return Tree(word, tuple(pair))


@st.composite
def conditions(draw: st.DrawFn, depth: int = 3) -> Tree:
    """An expression that holds or does not hold in a row."""
    if depth > 0 and draw(st.booleans()):
        word = draw(st.sampled_from(["not", "and", "or"]))
        count = 1 if word == "not" else 2
        return Tree(word, tuple(draw(conditions(depth - 1)) for _ in range(count)))
    number = draw(numbers(max(depth - 1, 0)))
    either = draw(numbers(max(depth - 1, 0), plain=True))
    word = draw(st.sampled_from(["==", "!=", "<", "<=", ">", ">=", "between", "missing", "in",
                                 "not in"]))  # fmt: skip
    if word == "missing":
        return Tree(word, (number,))
    if word in {"in", "not in"}:
        listed = draw(st.lists(st.sampled_from(NUMBERS), max_size=3))
        return Tree(word, (number, *map(Tree, listed)))
    if word == "between":
        return Tree(word, (either, number, draw(numbers(0, plain=True))))
    return Tree(word, (number, either) if draw(st.booleans()) else (either, number))


values = st.sampled_from([NAN, -3.0, -1.0, -0.5, 0.0, 0.25, 1.0, 2.0, 3.5, 10.0])
frames = st.lists(st.tuples(values, values, values), min_size=1, max_size=12).map(
    lambda rows: pd.DataFrame(rows, columns=list(COLUMNS)).assign(unit=1, year=0)
)


@settings(max_examples=300, deadline=None)
@given(tree=numbers(), frame=frames)
def test_random_expressions_mean_the_same_row_by_row(tree: Tree, frame: pd.DataFrame) -> None:
    with np.errstate(all="ignore"):
        wanted = [meant(tree, row) for row in frame[list(COLUMNS)].to_dict("records")]
    found = evaluated(written(tree), frame)
    np.testing.assert_allclose(
        np.asarray(found, dtype=float), np.array(wanted, dtype=float), rtol=1e-9, err_msg=str(tree)
    )


@settings(max_examples=100, deadline=None)
@given(condition=conditions(), frame=frames)
def test_random_filters_keep_the_same_rows(condition: Tree, frame: pd.DataFrame) -> None:
    with np.errstate(all="ignore"):
        wanted = [meant(condition, row) for row in frame[list(COLUMNS)].to_dict("records")]
    kept = frame.loc[evaluated(written(condition), frame)]
    assert list(kept.index) == [place for place, holds in enumerate(wanted) if holds]


@st.composite
def panels(draw: st.DrawFn) -> pd.DataFrame:
    """Rows of a panel in any order, with gaps in time and missing values."""
    places = st.tuples(st.integers(1, 4), st.integers(1990, 1997))
    rows = draw(st.lists(places, min_size=1, max_size=20, unique=True))
    filled = draw(st.lists(values, min_size=len(rows), max_size=len(rows)))
    frame = pd.DataFrame(rows, columns=["unit", "year"]).assign(x=filled)
    return frame.set_index(pd.Index(draw(st.permutations(range(len(rows))))))


@settings(max_examples=60, deadline=None)
@given(frame=panels(), periods=st.integers(1, 3))
def test_panel_functions_look_up_unit_and_period(frame: pd.DataFrame, periods: int) -> None:
    known = {(row.unit, row.year): row.x for row in frame.itertuples()}
    places = list(known)

    def at(shift: int) -> list[float]:
        return [known.get((unit, year + shift), NAN) for unit, year in places]

    def own(unit: int, last: int = 9999) -> list[float]:
        inside = [x for (u, t), x in known.items() if u == unit and t <= last]
        return [x for x in inside if not math.isnan(x)]

    same(evaluated(f"lag(x, {periods})", frame), at(-periods))
    same(evaluated(f"lead(x, {periods})", frame), at(periods))
    same(
        evaluated(f"difference(x, {periods})", frame),
        [known[place] - before for place, before in zip(places, at(-periods), strict=True)],
    )
    same(evaluated("group_sum(x)", frame), [sum(own(unit)) for unit, _ in places])
    means = [sum(own(u)) / len(own(u)) if own(u) else NAN for u, _ in places]
    same(evaluated("group_mean(x)", frame), means)
    sums = [NAN if math.isnan(known[u, t]) else sum(own(u, t)) for u, t in places]
    same(evaluated("cumulative(x)", frame), sums)
    assert list(evaluated("lag(x)", frame).index) == list(frame.index)


@pytest.mark.parametrize("word", ["lag(x)", "lead(x)", "difference(x)", "cumulative(x)"])
def test_without_a_panel_there_is_no_lag(word: str) -> None:
    source = compiled(word).source
    with pytest.raises(eco.Undetermined, match="needs a file with a"):
        eval(source, {"d": FRAME, "panel": eco.Panel(FRAME, None, None)})


# ------------------------------------------------------------------ what is refused


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "is not an expression"),
        ("x +", "is not an expression"),
        ("x z", "is not an expression"),
        ("(x", "is not an expression"),
        ("x:", "is not an expression"),
        ("x = 1", "is not an expression"),
        ("import os", "is not an expression"),
        ("x\0", "is not an expression"),
        ("x; z", "is not an expression"),
        ("lambda: x", "is not an expression"),
        ("income", "'income' is neither a variable nor a parameter"),
        ("log(income)", "'income' is neither a variable nor a parameter"),
        ("np", "'np' is neither"),
        ("d", "'d' is neither"),
        ("__builtins__", "'__builtins__' is neither"),
        ("x.values", "'x.values' is outside the language"),
        ("x.__class__", "is outside the language"),
        ("().__class__.__bases__", "is outside the language"),
        ("x[0]", "'x[0]' is outside the language"),
        ("x if female == 1 else z", "is outside the language"),
        ("[x, z]", "is outside the language"),
        ("(x, z)", "is outside the language"),
        ("{x}", "is outside the language"),
        ("[y for y in x]", "is outside the language"),
        ("(y := x)", "is outside the language"),
        ("f'{x}'", "is outside the language"),
        ("min(*x)", "is outside the language"),
        ("log(x, out=z)", "is outside the language"),
        ("x.sum()", "is outside the language"),
        ("log(x)(z)", "is outside the language"),
        ("__import__('os').system('id')", "is outside the language"),
        ("__import__('os')", "'__import__' is not a function of the language"),
        ("eval('1')", "'eval' is not a function of the language"),
        ("open('truth.csv')", "'open' is not a function of the language"),
        ("mean(x)", "'mean' is not a function of the language"),
        ("None", "None is outside the language"),
        ("b'a'", "is outside the language"),
        ("2j * x", "is outside the language"),
        ("...", "is outside the language"),
        ("x // 2", "uses an unknown operator"),
        ("x % 2", "uses an unknown operator"),
        ("x @ z", "uses an unknown operator"),
        ("x & z", "uses an unknown operator"),
        ("x | z", "uses an unknown operator"),
        ("x ^ z", "uses an unknown operator"),
        ("x << 2", "uses an unknown operator"),
        ("~x", "uses an unknown operator"),
        ("+x", "uses an unknown operator"),
        ("x is z", "an unknown comparison"),
        ("x in z", "`in` needs a list of values"),
        ("x in (z, 1)", "`in` compares a variable with a list of fixed values"),
        ("1 in (1, 2)", "`in` compares a variable"),
        ("cutoff in (1, 2)", "`in` compares a variable"),
        ("9 ** 9 ** 9", "the exponent of '9 ** 9 ** 9' is no plain number"),
        ("(9 ** 99) ** 99", "the base of '(9 ** 99) ** 99' is no plain number"),
        ("x ** (100 * 100)", "is no plain number"),
        ("x ** 101", "an exponent is larger than 100"),
        ("2 ** -101", "an exponent is larger than 100"),
        ("x ** " + "9" * 400, "an exponent is larger than 100"),
        ("x + 1e999", "a number is too large"),
        ("x + " + "9" * 400, "a number is too large"),
        ("'a' * 1000000000", "computes with a text"),
        ("group + 'a'", "computes with a text"),
        ("log()", "log() does not take 0 arguments"),
        ("log(x, z)", "log() does not take 2 arguments"),
        ("where(x > 1, x)", "where() does not take 2 arguments"),
        ("category(group, 'a', 'b')", "category() does not take 3 arguments"),
        ("lag(x, 1, 2)", "lag() does not take 3 arguments"),
        ("standardize(3)", "standardize() needs a variable"),
        ("rank(cutoff)", "rank() needs a variable"),
        ("where(1 > 2, x, z)", "where() needs a variable"),
        ("category('a')", "category() needs a variable"),
        ("max(3)", "max() needs a variable"),
        ("lag(3)", "lag() needs a variable"),
        ("(" * 300 + "x" + ")" * 300, "is not an expression"),
        ("+".join(["x"] * 400), "is nested too deeply"),
        ("-" * 5000 + "x", "is nested too deeply"),
        ("+".join(["x"] * 100_000), "is nested too deeply"),
    ],
    ids=lambda text: text[:24] if isinstance(text, str) else text,
)
def test_what_is_outside_the_language_is_refused_in_words(text: str, said: str) -> None:
    with pytest.raises(ExpressionError) as refused:
        compiled(text)
    assert said in str(refused.value)
    assert len(str(refused.value)) < 300


@pytest.mark.parametrize("terms", [2, 50, 150])
def test_long_sums_are_read(terms: int) -> None:
    same(evaluated("+".join(["children"] * terms)), [terms * one for one in FRAME["children"]])


def test_a_negative_or_fractional_exponent_is_a_plain_number() -> None:
    same(evaluated("z ** -1"), [2, NAN, 0.5, 0.125, 1 / 3, 1])
    same(evaluated("2 ** female"), [1, 2, 2, 1, 2, 1])


NAME = st.sampled_from(["x", "z", "group", "cutoff", "log", "os", "__class__", "d", "np", "eco"])
TOKEN = NAME | st.sampled_from(list("()[]{}.,:;=<>+-*/%&|^~!@\"'\\ \n#0129")) | st.sampled_from(
    ["**", "==", "!=", " and ", " or ", " not ", " in ", " if ", " else ", " for ", "lambda ",
     "import ", "__import__", "eval(", "min(", "lag(", "category(", "9e9", "True", "None", "f'"]
)  # fmt: skip
ROOTS = {"d", "np", "pd", "eco", "panel", *PARAMETERS}
NODES = (
    ast.Expression, ast.Name, ast.Load, ast.Constant, ast.Subscript, ast.Attribute, ast.Call,
    ast.BinOp, ast.UnaryOp, ast.Compare, ast.List, ast.operator, ast.unaryop, ast.cmpop,
)  # fmt: skip
CALLED = {
    ast.unparse(ast.parse(f"{root}.{name}", mode="eval"))
    for root, names in {
        "np": "log exp sqrt abs",
        "pd": "isna",
        "eco": "square cube indicator holds category standardize where smaller larger rank "
        "interaction",
        "panel": "lag lead difference cumulative group_mean group_sum",
    }.items()
    for name in names.split()
}


def assert_harmless(source: str) -> None:
    """Columns of the frame, parameters and functions of the language: no other name or access."""
    for node in ast.walk(ast.parse(source, mode="eval")):
        assert isinstance(node, NODES), source
        if isinstance(node, ast.Name):
            assert node.id in ROOTS, source
        if isinstance(node, ast.Subscript):
            assert ast.unparse(node.value) == "d", source
            assert isinstance(node.slice, ast.Constant), source
            assert node.slice.value in {*FRAME.columns, *COLUMNS}, source
        if isinstance(node, ast.Attribute):
            assert ast.unparse(node) in CALLED or node.attr == "isin", source
        if isinstance(node, ast.Call) and ast.unparse(node.func) not in CALLED:
            assert isinstance(node.func, ast.Attribute), source
            assert node.func.attr == "isin", source


@settings(max_examples=600, deadline=None)
@given(text=st.lists(TOKEN, max_size=12).map("".join) | st.text(max_size=30))
def test_any_text_is_refused_or_harmless(text: str) -> None:
    try:
        source = compiled(text).source
    except ExpressionError:
        return
    assert_harmless(source)


@settings(max_examples=100, deadline=None)
@given(tree=numbers())
def test_what_is_in_the_language_is_harmless_too(tree: Tree) -> None:
    source = compiled_expression(written(tree), variables=COLUMNS, parameters=[]).source
    assert_harmless(source)


@settings(max_examples=100, deadline=None)
@given(name=st.text(min_size=1, max_size=20))
def test_a_column_of_any_name_is_that_column(name: str) -> None:
    """A name of the data that looks like code is text in the script."""
    column = name.strip()
    if interaction_parts(name) != (column,):
        return
    source = compiled_expression(name, variables=[column], parameters=[]).source
    tree = ast.parse(source, mode="eval").body
    assert isinstance(tree, ast.Subscript)
    assert isinstance(tree.slice, ast.Constant)
    assert tree.slice.value == column


def test_a_name_that_closes_the_quotes_is_a_name() -> None:
    hostile = 'x"]; import os; d["x'
    source = compiled_expression(hostile, variables=[hostile], parameters=[]).source
    assert ast.literal_eval(source.removeprefix("d")) == [hostile]


# ------------------------------------------------------------------ numbers that were not right


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        # `~` of whole numbers turns bits round: -1 and -2 instead of 1 and 0.
        ("indicator(not female)", [1, 0, 0, 1, 0, 1]),
        # `&` of whole numbers is bit by bit: 1 and 2 have no bit in common.
        ("indicator(children and female)", [0, 1, 1, 0, 1, 0]),
        ("indicator(children and year > 1990)", [0, 1, 1, 0, 1, 0]),
    ],
)
def test_a_number_as_a_condition(text: str, wanted: list[float]) -> None:
    same(evaluated(text), wanted)


@pytest.mark.parametrize("text", ["square(income)", "income ** 2", "income * income"])
def test_whole_numbers_do_not_overflow(text: str) -> None:
    """Columns of a Stata file are whole numbers of one, two or four bytes."""
    frame = pd.DataFrame({"income": pd.Series([100, 60_000], dtype="int32")})
    same(evaluated(text, eco.plain(frame.assign(unit=1, year=[1, 2]))), [1e4, 3.6e9])


def test_a_missing_category_is_missing() -> None:
    frame = FRAME.assign(group=["b", "a", None, "a", "b", "c"])
    assert evaluated("category(group)", frame).iloc[2].isna().all()


def test_a_missing_period_has_no_lag() -> None:
    frame = FRAME.assign(year=[1990, NAN, NAN, 1990, 1991, 1993])
    same(evaluated("lag(children)", frame), [NAN, NAN, NAN, NAN, 3, NAN])


def test_a_period_that_stands_twice_has_no_lag() -> None:
    frame = FRAME.assign(year=[1990, 1990, 1991, 1990, 1991, 1993])
    found = evaluated("lag(children)", frame)
    assert math.isnan(found[2])
