"""Rounding to printed decimals, half away from zero, on the decimal notation of a float.

A float is taken for the shortest decimal number that reads back as it, as a reader of a log
would. So 1.005 at two decimals is 1.01 although the float lies below the half.
"""

from __future__ import annotations

from decimal import ROUND_HALF_UP, Decimal
from typing import Final

import numpy as np
from numpy.typing import NDArray

__all__ = ["decimals_of_notation", "powers", "printed_units"]

LARGEST_EXACT_POWER: Final = 22
"""10 to this power is a float without error, and so is every smaller one."""

LARGEST_COUNT: Final = 2.0**52
"""From here on a float has no digits after the point."""

NEAR_HALF: Final = 1e-6
"""Distance from a half, in printed units, from which the decimal notation is consulted."""


def powers(exponents: NDArray[np.int64]) -> NDArray[np.float64]:
    """Powers of ten by table look-up, many times faster than computing each; exponents >= 0."""
    table = np.power(10.0, np.arange(int(exponents.max(initial=0)) + 1, dtype=np.float64))
    looked_up: NDArray[np.float64] = table[exponents]
    return looked_up


def printed_units(values: NDArray[np.float64], decimals: NDArray[np.int64]) -> NDArray[np.float64]:
    """Values in whole units of the last printed digit, with sign.

    Parameters
    ----------
    values : array of float
        NaN and infinities stay as they are.
    decimals : array of int
        Printed decimals, 0 to 22.

    Returns
    -------
    array of float
        Whole numbers; a value too large to have digits there is returned scaled as it is.
    """
    with np.errstate(invalid="ignore", over="ignore"):
        scaled = np.abs(values) * powers(decimals)
        units = np.floor(scaled + 0.5)
        fraction = scaled - np.floor(scaled)
        near = np.flatnonzero((np.abs(fraction - 0.5) < NEAR_HALF) & (scaled < LARGEST_COUNT))
    for place in near:
        exact = Decimal(repr(float(abs(values[place])))).scaleb(int(decimals[place]))
        units[place] = float(exact.quantize(Decimal(1), rounding=ROUND_HALF_UP))
    large = ~(scaled < LARGEST_COUNT)
    units[large] = scaled[large]
    rounded: NDArray[np.float64] = np.copysign(units, values)
    return rounded


def decimals_of_notation(values: NDArray[np.float64]) -> NDArray[np.int64]:
    """Digits after the point in each float's shortest notation; 0 for whole numbers.

    0.5 has one, however it was printed; 1e-05 has five. Not finite: 0.
    """
    decimals = np.zeros(len(values), dtype=np.int64)
    open_places = np.flatnonzero(np.isfinite(values))
    for count in range(LARGEST_EXACT_POWER + 1):
        power = 10.0**count
        scaled = np.rint(values[open_places] * power)
        found = (scaled / power == values[open_places]) & (np.abs(scaled) < LARGEST_COUNT)
        found |= np.abs(values[open_places]) >= LARGEST_COUNT
        decimals[open_places[found]] = count
        open_places = open_places[~found]
        if not len(open_places):
            break
    for place in open_places:
        exponent = Decimal(repr(float(values[place]))).as_tuple().exponent
        decimals[place] = max(0, -int(exponent))
    return decimals
