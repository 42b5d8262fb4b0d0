"""Table 1: sample means of characteristics, experimental samples and comparison groups.

Each sample has a row with its size and its means, and (experimental samples only) a row below
with the standard errors of those means.

Choice where the description is open: the standard error of a mean is the sample standard
deviation (divisor n - 1) over the square root of n.
"""

import json
from math import sqrt

import pandas as pd
import pyreadr

SLUG = "table_1"

# Column of the table -> variable; column 0 is the number of observations.
VARIABLES = {
    1: "age",
    2: "educ",
    3: "black",
    4: "hisp",
    5: "nodeg",
    6: "marr",
    7: "re74",
    8: "re75",
}


def load_samples():
    """The seven samples, keyed by panel and row label as printed."""
    lalonde = pd.read_stata("data/nsw_lalonde.dta")
    subset = pd.read_stata("data/nsw_re74.dta")
    return {
        ("NSW/Lalonde", "Treated"): lalonde[lalonde["trt"] == 1],
        ("NSW/Lalonde", "Control"): lalonde[lalonde["trt"] == 0],
        ("RE74 subset", "Treated"): subset[subset["trt"] == 1],
        ("RE74 subset", "Control"): subset[subset["trt"] == 0],
        ("Comparison groups", "PSID-1"): pd.read_csv("data/psid1.csv"),
        ("Comparison groups", "PSID-3"): pd.read_csv("data/psid3.csv"),
        ("Comparison groups", "CPS-1"): pyreadr.read_r("data/cps1.rds")[None],
    }


def statistic(sample, metric, col):
    """Value of one cell."""
    if metric == "n_obs":
        return float(len(sample))
    values = sample[VARIABLES[col]].astype(float).dropna()
    if metric == "mean":
        return float(values.mean())
    if metric == "standard_error":
        return float(values.std(ddof=1) / sqrt(len(values)))
    raise ValueError(f"unexpected metric {metric}")


def main():
    samples = load_samples()
    with open(f"table_templates/{SLUG}.json", encoding="utf-8") as handle:
        table = json.load(handle)
    for cell in table["cells"]:
        sample = samples[cell["panel"], cell["row_label"]]
        cell["value"] = statistic(sample, cell["metric"], cell["col"])
    with open(f"{SLUG}.json", "w", encoding="utf-8") as handle:
        json.dump(table, handle, indent=2)


if __name__ == "__main__":
    main()
