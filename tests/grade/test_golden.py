"""The golden matrix, graded by the package and by the oracle."""

import golden_cases
import oracle
import pytest


def name(case):
    return "-".join(
        case[key] for key in ("rule", "metric", "published", "reproduced", "se", "extra")
    )


def test_the_matrix_is_large_and_says_how():
    assert len(golden_cases.CASES) >= 150
    assert all(case["arithmetic"] for case in golden_cases.CASES)
    assert len({name(case) for case in golden_cases.CASES}) == len(golden_cases.CASES)
    for rule in ("raw", "interval"):
        letters = {case["letter"] for case in golden_cases.CASES if case["rule"] == rule}
        assert letters == set("ABCDEF")


@pytest.mark.parametrize("case", golden_cases.CASES, ids=name)
def test_package(case):
    assert golden_cases.letter_of(case) == case["letter"], case["arithmetic"]


@pytest.mark.parametrize("case", golden_cases.CASES, ids=name)
def test_oracle(case):
    cell = golden_cases.oracle_cell(oracle, case)
    rounding = {"raw": "none", "rounded": "printed", "rounded_repr": "repr"}
    if case["rule"] == "interval":
        assert oracle.printed_letter(cell) == case["letter"], case["arithmetic"]
    else:
        assert oracle.kohler_letter(cell, rounding[case["rule"]]) == case["letter"]
