"""Call-back rates by how the name on a resume sounds (Table 1).

For every sample: the call-back rate of resumes with White and with African-American names in
percent, the number of resumes, the ratio of the rates, their difference in percentage points
and the two-sided p-value of the test that the rates are equal. The methods name a test of
proportions; it is the usual large-sample z test with the pooled rate under the null hypothesis,
without continuity correction. Resumes are treated as independent (no clustering by
advertisement).
"""

import json

import numpy as np
import pandas as pd
import pyreadstat
from scipy.stats import norm

SLUG = "table_1"
PER_CENT = 100.0


def load():
    """One row a resume."""
    data, _ = pyreadstat.read_sav("data/resumes.sav")
    for name in ["race", "sex", "city", "kind"]:
        data[name] = data[name].str.strip()
    return data


def samples(data):
    """Rows of each sample, in the order of the printed table."""
    female = data["sex"] == "f"
    return [
        pd.Series(True, index=data.index),
        data["city"] == "c",
        data["city"] == "b",
        female,
        female & (data["kind"] == "a"),
        female & (data["kind"] == "s"),
        data["sex"] == "m",
    ]


def equal_proportions_p(calls, n):
    """Two-sided p-value of the pooled two-sample z test of proportions."""
    rate, pooled = calls / n, calls.sum() / n.sum()
    se = np.sqrt(pooled * (1 - pooled) * np.sum(1 / n))
    return 2 * norm.sf(abs(rate[0] - rate[1]) / se)


def contrast(data, row):
    """The values of one sample; rates in the printed row, counts and p-value in the next."""
    groups = [data.loc[data["race"] == race, "call"] for race in ("w", "b")]
    calls = np.array([group.sum() for group in groups])
    n = np.array([group.count() for group in groups], dtype=float)
    white, black = calls / n
    return {
        (row, 0): PER_CENT * white,
        (row, 1): PER_CENT * black,
        (row, 2): white / black,
        (row, 3): PER_CENT * (white - black),
        (row + 1, 0): n[0],
        (row + 1, 1): n[1],
        (row + 1, 3): equal_proportions_p(calls, n),
    }


def main():
    data = load()
    values = {}
    for index, rows in enumerate(samples(data)):
        values.update(contrast(data[rows], 2 * index))

    with open(f"table_templates/{SLUG}.json", encoding="utf-8") as handle:
        table = json.load(handle)
    for cell in table["cells"]:
        cell["value"] = float(values[cell["row"], cell["col"]])
    with open(f"{SLUG}.json", "w", encoding="utf-8") as handle:
        json.dump(table, handle, indent=2)


if __name__ == "__main__":
    main()
