"""Intervals and contrasts over papers, against values worked out another way."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from bench.intervals import (
    detectable_difference,
    level_interval,
    paired_contrast,
    sign_flip_p,
)

SCORES = st.lists(st.floats(0, 5), min_size=6, max_size=30)


def test_mean_of_weights_agrees_with_the_closed_form() -> None:
    # Posterior mean of the bounded bootstrap: (sum + 0.5*0 + 0.5*5) / (n + 1); its variance is
    # that of a Dirichlet mean: (E[x^2] - E[x]^2) / (n + 2). Normal approximation at n = 200.
    values = np.tile([1.0, 2.0, 3.0, 4.0], 50)
    points = np.append(values, [0.0, 5.0])
    weights = np.append(np.ones(200), [0.5, 0.5]) / 201
    centre = float(weights @ points)
    spread = math.sqrt(float(weights @ points**2 - centre**2) / 202)
    interval = level_interval(values, lowest=0, highest=5)
    assert interval is not None
    assert interval.low == pytest.approx(centre - 1.96 * spread, abs=0.02)
    assert interval.high == pytest.approx(centre + 1.96 * spread, abs=0.02)


def test_all_papers_at_the_ceiling_leave_room_below() -> None:
    # All at 5: the mean is 5 - 5 w, w ~ Beta(1/2, n + 1/2) the weight at the minimum.
    for n in (6, 20):
        interval = level_interval([5.0] * n, lowest=0, highest=5)
        assert interval is not None
        expected = 5 - 5 * stats.beta.ppf(0.975, 0.5, n + 0.5)
        assert interval.low == pytest.approx(expected, abs=0.12)
        assert interval.high > 4.99


@pytest.mark.parametrize("n", [0, 1, 5])
def test_fewer_than_six_papers_give_no_interval(n: int) -> None:
    assert level_interval([3.0] * n, lowest=0, highest=5) is None


def test_missing_papers_are_left_out_and_counted_out() -> None:
    with_missing = level_interval([1, 2, 3, math.nan, 4, 5, 2], lowest=0, highest=5)
    without = level_interval([1, 2, 3, 4, 5, 2], lowest=0, highest=5)
    assert with_missing == without
    assert with_missing is not None
    assert with_missing.n == 6


def test_value_off_the_scale_is_refused() -> None:
    with pytest.raises(ValueError, match="outside the scale"):
        level_interval([0.1] * 6 + [1.2], lowest=0, highest=1)


@given(SCORES)
@settings(deadline=None, max_examples=25)
def test_interval_is_repeatable_order_free_and_on_the_scale(values: list[float]) -> None:
    interval = level_interval(values, lowest=0, highest=5)
    assert interval == level_interval(values[::-1], lowest=0, highest=5)
    assert interval is not None
    assert 0 <= interval.low <= interval.high <= 5


def test_coverage_near_the_ceiling() -> None:
    # Ten papers, scores of a skewed distribution with mean 4.5: nominal 95 %, simulated 97 %.
    random = np.random.default_rng(7)
    sample = 5 * random.beta(4.5, 0.5, size=(400, 10))
    inside = 0
    for values in sample:
        interval = level_interval(values, lowest=0, highest=5, draws=1_000)
        assert interval is not None
        inside += interval.low <= 4.5 <= interval.high
    assert inside / 400 > 0.93


@given(st.lists(st.integers(-4, 4), min_size=6, max_size=9))
@settings(deadline=None, max_examples=40)
def test_sign_flip_equals_the_plain_enumeration(differences: list[int]) -> None:
    nonzero = [d for d in differences if d]
    p = sign_flip_p(differences)
    if len(nonzero) < 6:
        assert p is None
        return
    flips = list(itertools.product((-1, 1), repeat=len(nonzero)))
    hits = sum(
        abs(sum(s * d for s, d in zip(signs, nonzero, strict=True))) >= abs(sum(nonzero))
        for signs in flips
    )
    assert p == pytest.approx(hits / len(flips))


def test_sign_flip_of_many_papers() -> None:
    # Twenty equal differences: only the two all-equal patterns reach the sum, 2/2^20.
    p = sign_flip_p(np.ones(20))
    assert p == pytest.approx(1 / 20_001)
    even = sign_flip_p(np.tile([1.0, -1.0], 10))
    assert even == pytest.approx(1.0, abs=1e-9)


def test_paired_contrast_against_scipy() -> None:
    one = np.array([4.0, 3.5, 2.0, 5.0, 1.0, 3.0, 4.5, 2.5])
    two = np.array([3.0, 3.0, 2.5, 4.0, 0.5, 1.0, 4.0, 2.5])
    contrast = paired_contrast(one, two)
    reference = stats.ttest_rel(one, two).confidence_interval()
    assert contrast.n == 8
    assert contrast.n_different == 7
    assert (contrast.n_better, contrast.n_worse) == (6, 1)
    assert contrast.mean == pytest.approx(0.625)
    assert contrast.interval is not None
    assert contrast.interval.low == pytest.approx(reference.low)
    assert contrast.interval.high == pytest.approx(reference.high)


def test_contrast_uses_papers_of_both_arms_only() -> None:
    contrast = paired_contrast([5, 4, math.nan, 3], [4, math.nan, 1, 3])
    assert contrast.n == 2
    assert contrast.n_different == 1
    assert contrast.interval is None
    assert contrast.p is None
    with pytest.raises(ValueError, match="cannot be paired"):
        paired_contrast([1.0], [1.0, 2.0])


def test_detectable_difference_matches_the_stated_formula() -> None:
    # n = 10, t(.975, 9) = 2.262157, t(.80, 9) = 0.883404; sd of +-0.89 alternating is
    # 0.89 * sqrt(10/9) = 0.938143; times 3.145561 / sqrt(10).
    differences = np.tile([0.89, -0.89], 5)
    expected = (2.262157 + 0.883404) * 0.938143 / math.sqrt(10)
    assert detectable_difference(differences) == pytest.approx(expected, rel=1e-5)
    assert detectable_difference([0.0] * 20 + [1.0] * 5) is None
