"""Table 3, column 1: course evaluations and the beauty of instructors, all courses.

Weighted least squares of the evaluation score on the beauty rating and on characteristics of
instructor and course; the weight is the number of students who filled in the evaluation and
standard errors are clustered by instructor.

Choices where the description is open:
- the cluster-robust variance has the usual small-sample factor G/(G-1) * (N-1)/(N-K);
- R-squared is that of the weighted regression (weighted and centred), not adjusted;
- beauty is used as it stands in the file, not standardized again.
"""

import json

import pandas as pd
import statsmodels.api as sm

SLUG = "table_3"

# Printed row label -> regressor.
TERMS = {
    "Composite standardized beauty": "beauty",
    "Female": "female",
    "Minority": "minority_teacher",
    "Non-native English": "non_native",
    "Tenure track": "tenure_track",
    "Lower division": "lower_division",
    "One-credit course": "one_credit",
}


def load_courses():
    """All courses, with the indicators of the regression."""
    courses = pd.read_csv("data/TeachingRatings.csv")
    indicators = {
        "female": courses["gender"] == "female",
        "minority_teacher": courses["minority"] == "yes",
        "non_native": courses["native"] == "no",
        "tenure_track": courses["tenure"] == "yes",
        "lower_division": courses["division"] == "lower",
        "one_credit": courses["credits"] == "single",
    }
    return courses.assign(**{name: flag.astype(float) for name, flag in indicators.items()})


def estimate(courses):
    """Weighted regression with standard errors clustered by instructor."""
    design = sm.add_constant(courses[list(TERMS.values())])
    model = sm.WLS(courses["eval"], design, weights=courses["students"])
    return model.fit(
        cov_type="cluster", cov_kwds={"groups": courses["prof"], "use_correction": True}
    )


def cell_value(cell, fit):
    """Value of one cell."""
    metric = cell["metric"]
    if metric == "r_squared":
        return float(fit.rsquared)
    if metric == "n_obs":
        return float(fit.nobs)
    term = TERMS[cell["row_label"]]
    return float(fit.params[term] if metric == "coefficient" else fit.bse[term])


def main():
    fit = estimate(load_courses())
    with open(f"table_templates/{SLUG}.json", encoding="utf-8") as handle:
        table = json.load(handle)
    for cell in table["cells"]:
        cell["value"] = cell_value(cell, fit)
    with open(f"{SLUG}.json", "w", encoding="utf-8") as handle:
        json.dump(table, handle, indent=2)


if __name__ == "__main__":
    main()
