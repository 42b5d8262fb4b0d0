"""Writes the simulated panel that the reference values are computed on."""

from __future__ import annotations

import sys

import numpy as np
import pandas as pd

rng = np.random.default_rng(20260601)
units, periods = 120, 7
unit = np.repeat(np.arange(units), periods)
time = np.tile(np.arange(2001, 2001 + periods), units)
effect = rng.normal(size=units)[unit]
x = rng.normal(size=units * periods) + 0.4 * effect
q = rng.normal(size=units)[unit]
z1, z2 = rng.normal(size=(2, units * periods))
shock = rng.normal(size=units * periods)
e = z1 + 0.5 * z2 + shock
y = 1 + 0.5 * x + 0.2 * q + effect + rng.normal(size=units * periods)
yy = 0.5 * e + 0.3 * x + shock + rng.normal(size=units * periods)
b = (0.3 + 0.6 * x - 0.4 * q + rng.logistic(size=units * periods) > 0).astype(int)
c = rng.negative_binomial(1.5, 1.5 / (1.5 + np.exp(0.6 + 0.4 * x)))
c = np.where(rng.random(units * periods) < 0.25, 0, c)
w = rng.uniform(0.5, 2, size=units * periods)
frame = pd.DataFrame(
    {
        "i": unit,
        "t": time,
        "x": x,
        "q": q,
        "z1": z1,
        "z2": z2,
        "e": e,
        "y": y,
        "yy": yy,
        "b": b,
        "c": c,
        "w": w,
    }
).round(6)
dynamic = []
for u in range(units):
    level, fixed = rng.normal(), rng.normal()
    for t in range(1998, 2001 + periods):
        k = rng.normal()
        level = 0.5 * level + 0.3 * k + 0.5 * fixed + rng.normal()
        if t > 2000 and not (u % 3 == 0 and t == 2001):
            dynamic.append((u, t, round(level, 6), round(k, 6)))
frame.to_csv(sys.argv[1], index=False)
pd.DataFrame(dynamic, columns=["i", "t", "y", "k"]).to_csv(sys.argv[2], index=False)
