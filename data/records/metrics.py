"""The closed list of statistics that a cell can be, and what follows from each.

The list is the one vocabulary of the project; `metric_from_alias` maps the words of
other vocabularies (older records, the published system's ``row_type``) onto it.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Final

__all__ = [
    "COMPLETION_EXCLUDED",
    "COUNT_METRICS",
    "INTERVAL_METRICS",
    "UNGRADED_METRICS",
    "UNIT_METRICS",
    "Metric",
    "metric_from_alias",
]


class Metric(StrEnum):
    """The statistic that a cell prints."""

    COEFFICIENT = "coefficient"
    STANDARD_ERROR = "standard_error"
    T_STATISTIC = "t_statistic"
    Z_STATISTIC = "z_statistic"
    P_VALUE = "p_value"
    CI_LOWER = "ci_lower"
    CI_UPPER = "ci_upper"
    N_OBS = "n_obs"
    N_CLUSTERS = "n_clusters"
    N_GROUPS = "n_groups"
    R_SQUARED = "r_squared"
    R_SQUARED_ADJ = "r_squared_adj"
    R_SQUARED_WITHIN = "r_squared_within"
    PSEUDO_R_SQUARED = "pseudo_r_squared"
    F_STATISTIC = "f_statistic"
    CHI2_STATISTIC = "chi2_statistic"
    LOG_LIKELIHOOD = "log_likelihood"
    AIC = "aic"
    BIC = "bic"
    MEAN = "mean"
    STD_DEV = "std_dev"
    MEDIAN = "median"
    CONTROL_MEAN = "control_mean"
    SHARE = "share"
    CORRELATION = "correlation"
    COUNT = "count"
    OTHER_STATISTIC = "other_statistic"
    SETTING = "setting"
    TEXT = "text"


UNGRADED_METRICS: Final = frozenset({Metric.SETTING, Metric.TEXT})
"""Cells that are inputs: they keep their text in a template and are never graded."""

COUNT_METRICS: Final = frozenset(
    {Metric.N_OBS, Metric.N_CLUSTERS, Metric.N_GROUPS, Metric.COUNT},
)
INTERVAL_METRICS: Final = frozenset({Metric.CI_LOWER, Metric.CI_UPPER})
COMPLETION_EXCLUDED: Final = INTERVAL_METRICS
"""Graded, but left out of completion counts, as in the published completion table."""

UNIT_METRICS: Final = frozenset(
    {
        Metric.COEFFICIENT,
        Metric.STANDARD_ERROR,
        Metric.CI_LOWER,
        Metric.CI_UPPER,
        Metric.MEAN,
        Metric.MEDIAN,
        Metric.STD_DEV,
        Metric.CONTROL_MEAN,
        Metric.SHARE,
    },
)
"""Statistics that carry the outcome's unit, so that a power of ten can separate two printings."""

_ALIASES: Final[dict[str, Metric]] = {
    "coef": Metric.COEFFICIENT,
    "estimate": Metric.COEFFICIENT,
    "se": Metric.STANDARD_ERROR,
    "std_error": Metric.STANDARD_ERROR,
    "t_stat": Metric.T_STATISTIC,
    "t_value": Metric.T_STATISTIC,
    "z_stat": Metric.Z_STATISTIC,
    "z_value": Metric.Z_STATISTIC,
    "p": Metric.P_VALUE,
    "pvalue": Metric.P_VALUE,
    "n": Metric.N_OBS,
    "nobs": Metric.N_OBS,
    "observations": Metric.N_OBS,
    "statistic_n_obs": Metric.N_OBS,
    "r2": Metric.R_SQUARED,
    "statistic_r2": Metric.R_SQUARED,
    "adj_r2": Metric.R_SQUARED_ADJ,
    "r2_adj": Metric.R_SQUARED_ADJ,
    "adj_r_squared": Metric.R_SQUARED_ADJ,
    "pseudo_r2": Metric.PSEUDO_R_SQUARED,
    "f_stat": Metric.F_STATISTIC,
    "statistic_f": Metric.F_STATISTIC,
    "chi2": Metric.CHI2_STATISTIC,
    "loglik": Metric.LOG_LIKELIHOOD,
    "log_lik": Metric.LOG_LIKELIHOOD,
    "sd": Metric.STD_DEV,
    "std": Metric.STD_DEV,
    "proportion": Metric.SHARE,
    "percent": Metric.SHARE,
    "other": Metric.OTHER_STATISTIC,
    "statistic_other": Metric.OTHER_STATISTIC,
    "string": Metric.TEXT,
}


def metric_from_alias(word: str) -> Metric:
    """Metric named by a word of this or another vocabulary.

    Parameters
    ----------
    word : str
        A metric's own name or an alias of it, in any case, with spaces or hyphens
        in place of underscores.

    Raises
    ------
    ValueError
        When the word names no metric.
    """
    name = word.strip().lower().replace(" ", "_").replace("-", "_")
    if name in _ALIASES:
        return _ALIASES[name]
    try:
        return Metric(name)
    except ValueError:
        known = ", ".join(metric.value for metric in Metric)
        raise ValueError(f"unknown metric {word!r}; known are: {known}") from None
