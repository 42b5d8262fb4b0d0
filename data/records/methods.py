"""The numeral-free description of what a paper did: its methods record.

A number that is part of a method (a cut-off, a first year, a censoring point) lives in
`Methods.parameters` under a name and is used by that name everywhere else, so that the leak
linter can compare every parameter with every published value. Free text of a table carries no
numeral at all.

Expressions (`outcome`, `regressors`, `filter`, `definition`, ...) are written over the
variables of the data file, the names of `derived` variables and the names of parameters, with
the operators ``+ - * / == != < <= > >= and or not in`` and the functions ``log exp sqrt square
cube abs min max lag lead difference group_mean group_sum cumulative rank missing where
indicator category standardize``. ``a:b`` is the interaction of two terms; ``category(x)`` is a
full set of indicators with its first level left out, ``category(x, "level")`` with that level
left out. ``lag(x)``, ``lag(x, periods)`` run within the panel unit over the time variable of
the file's index.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Final, Literal

__all__ = [
    "ColumnMethods",
    "DataFile",
    "Derivation",
    "Estimator",
    "Methods",
    "ModelSpec",
    "PageSpan",
    "Quantity",
    "RowMethods",
    "SampleDefinition",
    "StandardErrors",
    "Step",
    "TableMethods",
    "Variable",
    "VarianceKind",
]

METHODS_SCHEMA_VERSION: Final = 1


class Estimator(StrEnum):
    """How a model is estimated. `descriptive` covers tables of means, shares and differences."""

    DESCRIPTIVE = "descriptive"
    OLS = "ols"
    WLS = "wls"
    FIXED_EFFECTS = "fixed_effects"
    RANDOM_EFFECTS = "random_effects"
    FIRST_DIFFERENCES = "first_differences"
    TWO_STAGE_LEAST_SQUARES = "two_stage_least_squares"
    DIFFERENCE_GMM = "difference_gmm"
    SYSTEM_GMM = "system_gmm"
    LOGIT = "logit"
    PROBIT = "probit"
    TOBIT = "tobit"
    POISSON = "poisson"
    QUASI_POISSON = "quasi_poisson"
    NEGATIVE_BINOMIAL = "negative_binomial"
    HURDLE_POISSON = "hurdle_poisson"
    HURDLE_NEGATIVE_BINOMIAL = "hurdle_negative_binomial"
    ZERO_INFLATED_POISSON = "zero_inflated_poisson"
    ZERO_INFLATED_NEGATIVE_BINOMIAL = "zero_inflated_negative_binomial"
    LOCAL_DIFFERENCE = "local_difference"
    OTHER = "other"


class VarianceKind(StrEnum):
    """How standard errors are computed."""

    CLASSICAL = "classical"
    HC0 = "hc0"
    HC1 = "hc1"
    HC2 = "hc2"
    HC3 = "hc3"
    CLUSTER = "cluster"
    HAC = "hac"
    OUTER_PRODUCT = "outer_product"
    HESSIAN = "hessian"
    BOOTSTRAP = "bootstrap"
    GMM_ROBUST = "gmm_robust"
    UNSTATED = "unstated"


class Quantity(StrEnum):
    """What a row prints, where the metric of its cells alone does not say it."""

    TERM = "term"
    N_OBS = "n_obs"
    N_GROUPS = "n_groups"
    N_CLUSTERS = "n_clusters"
    N_PARAMETERS = "n_parameters"
    R_SQUARED = "r_squared"
    R_SQUARED_ADJ = "r_squared_adj"
    R_SQUARED_WITHIN = "r_squared_within"
    PSEUDO_R_SQUARED = "pseudo_r_squared"
    SQUARED_CORRELATION = "squared_correlation"
    PERCENT_CORRECT = "percent_correct"
    LOG_LIKELIHOOD = "log_likelihood"
    AIC = "aic"
    BIC = "bic"
    RESIDUAL_SD = "residual_sd"
    SCALE = "scale"
    DISPERSION = "dispersion"
    THETA = "theta"
    F_ALL_SLOPES = "f_all_slopes"
    JOINT_TEST = "joint_test"
    FIRST_STAGE_F = "first_stage_f"
    OVERIDENTIFICATION = "overidentification"
    AUTOCORRELATION_TEST = "autocorrelation_test"
    HAUSMAN = "hausman"
    OVERDISPERSION_TEST = "overdispersion_test"
    EXPECTED_ZEROS = "expected_zeros"
    MEAN = "mean"
    MEDIAN = "median"
    STD_DEV = "std_dev"
    STANDARD_ERROR_OF_MEAN = "standard_error_of_mean"
    SHARE = "share"
    PERCENT = "percent"
    COUNT = "count"
    DIFFERENCE = "difference"
    RATIO = "ratio"
    PRODUCT = "product"
    VARIANCE_SHARE = "variance_share"
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class PageSpan:
    """Where in the paper a requirement stands: pages counted from 1, both included."""

    first: int
    last: int


@dataclass(frozen=True, slots=True)
class Variable:
    """A variable of a data file: its name there, what it measures, its coding and unit."""

    name: str
    description: str
    coding: str = ""
    unit: str = ""


@dataclass(frozen=True, slots=True)
class DataFile:
    """A data file that a run is given. `unit` and `time` are its panel index, where it has one."""

    name: str
    description: str
    variables: tuple[Variable, ...] = ()
    unit: str | None = None
    time: str | None = None


@dataclass(frozen=True, slots=True)
class Derivation:
    """A variable made from others: `definition` is an expression, `file` where it lives."""

    name: str
    definition: str
    description: str
    file: str | None = None


@dataclass(frozen=True, slots=True)
class SampleDefinition:
    """The observations that a model uses: a file (or several stacked) and a filter."""

    id: str
    files: tuple[str, ...]
    description: str
    filter: str | None = None


@dataclass(frozen=True, slots=True)
class StandardErrors:
    """Kind of standard errors, what they are clustered by, and the small-sample convention."""

    kind: VarianceKind = VarianceKind.CLASSICAL
    clusters: tuple[str, ...] = ()
    small_sample: str = ""


@dataclass(frozen=True, slots=True)
class ModelSpec:
    """One estimated model, or one described sample (`estimator = descriptive`).

    Attributes
    ----------
    id : str
        Unique in its table; columns and rows refer to it.
    estimator : Estimator
    sample : str
        Id of a `SampleDefinition`.
    outcome : str or None
        An expression.
    regressors : tuple of str
        Terms of the (first, count) equation, endogenous ones included, controls left out.
    controls : tuple of str
        Further terms of the same equation that the table does not print.
    constant : bool
    fixed_effects : tuple of str
        Variables whose levels are absorbed or entered as indicators.
    endogenous, instruments : tuple of str
        `instruments` are the excluded ones.
    second_part : tuple of str
        Terms of the zero (hurdle, inflation) equation.
    weights : str or None
    standard_errors : StandardErrors
    settings : dict of str to str
        Named settings of an estimator: its keys are ``left_censoring``, ``right_censoring``,
        ``steps``, ``instrument_lags``, ``transformation``, ``running_variable``, ``cutoff``,
        ``bandwidth``, ``treatment``, ``method`` and so on; values are names of parameters,
        variables or words.
    requirement_ids : tuple of str
    notes : str
    """

    id: str
    estimator: Estimator
    sample: str
    outcome: str | None = None
    regressors: tuple[str, ...] = ()
    controls: tuple[str, ...] = ()
    constant: bool = True
    fixed_effects: tuple[str, ...] = ()
    endogenous: tuple[str, ...] = ()
    instruments: tuple[str, ...] = ()
    second_part: tuple[str, ...] = ()
    weights: str | None = None
    standard_errors: StandardErrors = StandardErrors()
    settings: dict[str, str] | None = None
    requirement_ids: tuple[str, ...] = ()
    notes: str = ""


@dataclass(frozen=True, slots=True)
class ColumnMethods:
    """The model that a column prints. `panel` restricts it to the rows of one panel.

    Where the columns are statistics of one model (estimate, standard error, t), all name that
    model and the metric of each cell says which statistic it is.
    """

    col: int
    model: str
    panel: str | None = None


@dataclass(frozen=True, slots=True)
class RowMethods:
    """What a row prints: a term of the column's model, or another quantity.

    Attributes
    ----------
    row : int
    quantity : Quantity
    term : str or None
        The regressor (an entry of the model's terms, ``constant`` for the intercept), or the
        variable described by a `descriptive` model.
    terms : tuple of str
        The terms of a joint test.
    equation : {"main", "zero"}
    model : str or None
        Overrides the column's model.
    col : int or None
        Restricts the entry to one column, where a row prints different things in each.
    notes : str
    """

    row: int
    quantity: Quantity = Quantity.TERM
    term: str | None = None
    terms: tuple[str, ...] = ()
    equation: Literal["main", "zero"] = "main"
    model: str | None = None
    col: int | None = None
    notes: str = ""


@dataclass(frozen=True, slots=True)
class TableMethods:
    """How one table comes about. `description` and `notes` carry no numeral."""

    slug: str
    description: str
    models: tuple[ModelSpec, ...] = ()
    columns: tuple[ColumnMethods, ...] = ()
    rows: tuple[RowMethods, ...] = ()
    notes: str = ""


@dataclass(frozen=True, slots=True)
class Step:
    """One step of preparing the data that holds for all tables."""

    id: str
    text: str
    variables: tuple[str, ...] = ()
    pages: PageSpan | None = None


@dataclass(frozen=True, slots=True)
class Methods:
    """A paper's methods, complete enough to re-implement its tables, free of results."""

    paper_id: str
    question: str
    setting: str
    files: tuple[DataFile, ...]
    samples: tuple[SampleDefinition, ...]
    tables: tuple[TableMethods, ...]
    variant: Literal["structured", "free_form", "passages"] = "structured"
    data_sources: tuple[str, ...] = ()
    steps: tuple[Step, ...] = ()
    derived: tuple[Derivation, ...] = ()
    parameters: dict[str, float] | None = None
    notes: str = ""
    schema_version: int = METHODS_SCHEMA_VERSION
