"""Structured methods and a template, compiled to one readable script a table.

The script reads the data, builds the samples, fits the models and fills the template; it uses
`econometrics.py`, which stands beside it in the workspace. Where the specification does not
determine a number the script leaves the cell empty and says why. Nothing here knows a
published value: the inputs are what every arm is given.
"""

from __future__ import annotations

import json
import keyword
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, TypeVar

from bench.arms.formal.expressions import (
    ExpressionError,
    compiled_expression,
    interaction_parts,
    is_condition,
)
from data.records.methods import (
    ColumnMethods,
    DataFile,
    Estimator,
    Methods,
    ModelSpec,
    Quantity,
    RowMethods,
    SampleDefinition,
    TableMethods,
    VarianceKind,
)
from data.records.metrics import Metric
from data.records.tables import Cell, Table

__all__ = ["compiled_script"]

_Entry = TypeVar("_Entry", RowMethods, ColumnMethods)

_PANEL_FUNCTION: Final = re.compile(r"\b(lag|lead|difference|cumulative|group_mean|group_sum)\s*\(")
_CATEGORY: Final = re.compile(r"^category\(\s*(\w+)")
_STATISTIC_OF_QUANTITY: Final = {
    Quantity.N_OBS: "n_obs",
    Quantity.N_GROUPS: "n_groups",
    Quantity.N_CLUSTERS: "n_clusters",
    Quantity.N_PARAMETERS: "n_parameters",
    Quantity.R_SQUARED: "r_squared",
    Quantity.R_SQUARED_ADJ: "r_squared_adj",
    Quantity.R_SQUARED_WITHIN: "r_squared_within",
    Quantity.PSEUDO_R_SQUARED: "pseudo_r_squared",
    Quantity.SQUARED_CORRELATION: "squared_correlation",
    Quantity.PERCENT_CORRECT: "percent_correct",
    Quantity.LOG_LIKELIHOOD: "log_likelihood",
    Quantity.AIC: "aic",
    Quantity.BIC: "bic",
    Quantity.RESIDUAL_SD: "residual_sd",
    Quantity.SCALE: "scale",
    Quantity.DISPERSION: "dispersion",
    Quantity.THETA: "theta",
    Quantity.FIRST_STAGE_F: "first_stage_f",
    Quantity.EXPECTED_ZEROS: "expected_zeros",
    Quantity.VARIANCE_SHARE: "variance_share",
}
_COUNT_ESTIMATORS: Final = {
    Estimator.POISSON: "poisson",
    Estimator.QUASI_POISSON: "poisson",
    Estimator.NEGATIVE_BINOMIAL: "negative_binomial",
    Estimator.HURDLE_POISSON: "hurdle_poisson",
    Estimator.HURDLE_NEGATIVE_BINOMIAL: "hurdle_negative_binomial",
    Estimator.ZERO_INFLATED_POISSON: "zero_inflated_poisson",
    Estimator.ZERO_INFLATED_NEGATIVE_BINOMIAL: "zero_inflated_negative_binomial",
}
_ALL_SLOPES: Final = {
    Metric.F_STATISTIC: "f_all_slopes",
    Metric.CHI2_STATISTIC: "wald_all_slopes",
    Metric.P_VALUE: "all_slopes_p",
}


_NOT_DETERMINED: Final = {
    VarianceKind.UNSTATED: "the methods do not say how its standard errors are computed",
    VarianceKind.BOOTSTRAP: "bootstrapped standard errors depend on draws that are not here",
}
_FROM_COVARIANCE: Final = {
    Metric.STANDARD_ERROR,
    Metric.T_STATISTIC,
    Metric.Z_STATISTIC,
    Metric.P_VALUE,
    Metric.CI_LOWER,
    Metric.CI_UPPER,
}
_TESTS: Final = {Quantity.JOINT_TEST, Quantity.F_ALL_SLOPES, Quantity.FIRST_STAGE_F}
_TAKEN: Final = {"np", "pd", "eco", "d", "s", "panel", "parts", "table", "len", "int"}
"""Names that mean something in every script, so that no parameter may be called so."""


class _Undetermined(Exception):
    """The specification does not say enough; the text is the reason."""


@dataclass
class _Sample:
    """A sample's function while it is being written: its columns by expression."""

    definition: SampleDefinition
    name: str
    lines: dict[str, list[str]]
    known: set[str] = field(default_factory=set)
    materialised: dict[str, str] = field(default_factory=dict)
    filter: str | None = None


def compiled_script(methods: Methods, table: TableMethods, template: Table) -> str:
    """Python script that fills `template`.

    Parameters
    ----------
    methods : Methods
        A structured methods record.
    table : TableMethods
        The entry of the table in it.
    template : Table
        The blinded table.

    Returns
    -------
    str
        Source; it needs `econometrics.py` beside it.
    """
    return _Script(methods, table, template).source()


class _Script:
    def __init__(self, methods: Methods, table: TableMethods, template: Table) -> None:
        self.methods, self.table, self.template = methods, table, template
        self.parameters = dict(methods.parameters or {})
        self.files: dict[str, DataFile] = {file.name: file for file in methods.files}
        self.definitions = {sample.id: sample for sample in methods.samples}
        self.models = {model.id: model for model in table.models}
        self.samples: dict[str, _Sample] = {}
        self.used_parameters: set[str] = set()
        self.model_sources: dict[str, list[str]] = {}
        self.refused: dict[str, str] = {}
        self.names: dict[tuple[str, str], str] = {}
        self.columns = {variable.name for file in methods.files for variable in file.variables}
        self.columns |= {derivation.name for derivation in methods.derived}

    # ------------------------------------------------------------ the whole

    def source(self) -> str:
        fills = [self._fill(cell) for cell in self.template.graded_cells]
        samples = [self._sample_source(sample) for sample in self.samples.values()]
        constants = [f"{name} = {self.parameters[name]!r}" for name in sorted(self.used_parameters)]
        blocks = ["\n".join(constants)] if constants else []
        blocks += samples
        blocks += ["\n".join(lines) for lines in self.model_sources.values()]
        blocks.append(
            "\n".join(
                [
                    f'table = eco.FilledTable("table_templates/{self.template.slug}.json")',
                    *fills,
                    f'table.save("{self.template.slug}.json")',
                ]
            )
        )
        title = f'"""{_docstring(self.template.caption or self.template.id)}"""'
        return "\n\n\n".join([title, _imports(blocks), *blocks]) + "\n"

    def _unique(self, kind: str, text: str) -> str:
        """Name for a text in the script; texts that differ in case or signs alone get two."""
        if (kind, text) not in self.names:
            plain = name = kind + _identifier(text)
            taken, number = {*self.names.values(), *self.columns}, 1
            while name in taken:
                number += 1
                name = f"{plain}_{number}"
            self.names[kind, text] = name
        return self.names[kind, text]

    # ------------------------------------------------------------ cells

    def _fill(self, cell: Cell) -> str:
        place = f"{cell.row}, {cell.col}"
        try:
            value = self._value(cell)
        except (_Undetermined, ExpressionError) as reason:
            return f"table.leave({place}, {str(reason)!r})"
        return f"table.fill({place}, {cell.part}, lambda: {value})"

    def _row(self, cell: Cell) -> RowMethods:
        entries = [row for row in self.table.rows if row.row == cell.row]
        exact = [row for row in entries if row.col == cell.col]
        general = [row for row in entries if row.col is None]
        return _the_one(exact or general, "what this row prints")

    def _column(self, cell: Cell) -> ColumnMethods | None:
        entries = [column for column in self.table.columns if column.col == cell.col]
        for wanted in (cell.panel, None):
            found = [column for column in entries if column.panel == wanted]
            if found:
                return _the_one(found, "which model this column is")
        return None

    def _model_of(self, cell: Cell, row: RowMethods) -> ModelSpec:
        column = self._column(cell)
        name = row.model or (column.model if column else None)
        if name is None:
            raise _Undetermined("the methods name no model for this column")
        if name not in self.models:
            raise _Undetermined(f"the methods describe no model {name!r}")
        return self.models[name]

    def _value(self, cell: Cell) -> str:
        row = self._row(cell)
        model = self._model_of(cell, row)
        if model.estimator is Estimator.DESCRIPTIVE:
            return self._description(cell, row, model)
        _refuse_unknown_covariance(cell, row, model)
        if model.estimator is Estimator.LOCAL_DIFFERENCE and row.quantity is Quantity.TERM:
            return f"{self._fit(model)}.main[{_quoted(row.term or 'jump')}][{_pair_index(cell)}]"
        if row.quantity is Quantity.TERM and row.term:
            return self._term(cell, row, model)
        return self._statistic(cell, row, model)

    def _term(self, cell: Cell, row: RowMethods, model: ModelSpec) -> str:
        fit = self._fit(model)
        equation = f', equation="{row.equation}"' if row.equation != "main" else ""
        return f"eco.term_statistic({fit}, {row.term!r}, {cell.metric.value!r}{equation})"

    def _statistic(self, cell: Cell, row: RowMethods, model: ModelSpec) -> str:
        quantity = row.quantity
        fit = self._fit(model)
        if quantity is Quantity.TERM:
            try:
                quantity = Quantity(cell.metric.value)
            except ValueError:
                raise _Undetermined("the methods do not say which statistic this is") from None
        if quantity in _STATISTIC_OF_QUANTITY:
            suffix = "_se" if cell.metric is Metric.STANDARD_ERROR else ""
            return f"{fit}.statistics[{_STATISTIC_OF_QUANTITY[quantity] + suffix!r}]"
        if quantity is Quantity.F_ALL_SLOPES:
            return f"{fit}.statistics[{_ALL_SLOPES.get(cell.metric, 'f_all_slopes')!r}]"
        if quantity is Quantity.JOINT_TEST:
            return f"eco.joint_test({fit}, {list(row.terms)!r}, {cell.metric.value!r})"
        if quantity is Quantity.OVERIDENTIFICATION:
            suffix = "_p" if cell.metric is Metric.P_VALUE else ""
            return f'{fit}.statistics["overidentification{suffix}"]'
        if quantity is Quantity.AUTOCORRELATION_TEST:
            return f"eco.autocorrelation({fit}, {row.term!r}, {cell.metric.value!r})"
        if quantity is Quantity.OVERDISPERSION_TEST:
            return self._overdispersion(cell, row, model)
        raise _Undetermined(f"no rule for the quantity {quantity.value} of a {model.estimator}")

    def _overdispersion(self, cell: Cell, row: RowMethods, model: ModelSpec) -> str:
        sample, _ = self._ready(model)
        power = 2.0 if (row.term or "") in {"quadratic", "square"} else 1.0
        outcome = self._expression(self._outcome(model), sample, "s")
        columns = self._columns([*model.regressors, *model.controls], sample)
        place = {Metric.Z_STATISTIC: 0, Metric.T_STATISTIC: 0}.get(cell.metric, 1)
        return (
            f"(lambda s: eco.overdispersion_test({outcome}, {columns}, power={power}))"
            f"({sample.name}())[{place}]"
        )

    # ------------------------------------------------------------ descriptions

    def _description(self, cell: Cell, row: RowMethods, model: ModelSpec) -> str:
        sample, _ = self._ready(model)
        quantity = row.quantity
        by_metric = {
            Metric.MEAN: Quantity.MEAN,
            Metric.CONTROL_MEAN: Quantity.MEAN,
            Metric.MEDIAN: Quantity.MEDIAN,
            Metric.STD_DEV: Quantity.STD_DEV,
            Metric.STANDARD_ERROR: Quantity.STANDARD_ERROR_OF_MEAN,
            Metric.SHARE: Quantity.SHARE,
            Metric.N_OBS: Quantity.N_OBS,
            Metric.COUNT: Quantity.COUNT,
        }
        if quantity in {Quantity.TERM, Quantity.MEAN, Quantity.OTHER}:
            quantity = by_metric.get(cell.metric, quantity)
        if quantity in {Quantity.N_OBS, Quantity.COUNT} and row.term is None:
            return f"len({sample.name}())"
        term = row.term or model.outcome
        if term is None:
            raise _Undetermined("the methods do not say which variable this row describes")
        values = self._expression(term, sample, "s")
        wrapped = f"(lambda s: {{}})({sample.name}())"
        weights = (
            f", weights={self._expression(model.weights, sample, 's')}" if model.weights else ""
        )
        rules = {
            Quantity.MEAN: f"eco.mean({values}{weights})",
            Quantity.SHARE: f"eco.mean({values}{weights})",
            Quantity.PERCENT: f"100 * eco.mean({values}{weights})",
            Quantity.MEDIAN: f"pd.Series({values}).median()",
            Quantity.STD_DEV: f"pd.Series({values}).std()",
            Quantity.STANDARD_ERROR_OF_MEAN: f"eco.standard_error_of_mean({values})",
            Quantity.COUNT: f"eco.total({values})",
            Quantity.N_OBS: f"eco.present({values})",
        }
        weighted = {Quantity.MEAN, Quantity.SHARE, Quantity.PERCENT}
        if model.weights and quantity not in {*weighted, Quantity.N_OBS}:
            raise _Undetermined(f"no rule for a weighted {quantity.value}")
        if quantity in rules:
            return wrapped.format(rules[quantity])
        if quantity not in {Quantity.TERM, Quantity.DIFFERENCE, Quantity.RATIO}:
            raise _Undetermined(f"no rule for the quantity {quantity.value} of a description")
        return self._comparison(cell, row, model, sample, quantity, values)

    def _comparison(
        self,
        cell: Cell,
        row: RowMethods,
        model: ModelSpec,
        sample: _Sample,
        quantity: Quantity,
        values: str,
    ) -> str:
        group = (model.settings or {}).get("treatment") or (model.settings or {}).get("group")
        if group is None:
            raise _Undetermined(
                f"the methods do not say which groups the {quantity.value} compares"
            )
        split = self._varying(group, sample)
        place = {
            Metric.STANDARD_ERROR: "standard_error",
            Metric.P_VALUE: "p_value",
            Metric.T_STATISTIC: "ratio_to_error",
            Metric.Z_STATISTIC: "ratio_to_error",
        }.get(cell.metric, {Quantity.RATIO: "ratio"}.get(quantity, "difference"))
        scale = "100 * " if row.term and "percent" in row.notes and place == "difference" else ""
        return f"(lambda s: {scale}eco.compared({values}, {split}, {place!r}))({sample.name}())"

    # ------------------------------------------------------------ models

    def _fit(self, model: ModelSpec) -> str:
        name = self._unique("model_", model.id)
        if model.id in self.refused:
            raise _Undetermined(self.refused[model.id])
        if name not in self.model_sources:
            try:
                _refuse_what_would_be_ignored(model)
                sample, reference = self._ready(model)
                call = self._estimation(model, sample)
            except (_Undetermined, ExpressionError) as reason:
                self.refused[model.id] = f"model {model.id}: {reason}"
                raise _Undetermined(self.refused[model.id]) from None
            self.model_sources[name] = [
                "@eco.once",
                f"def {name}():",
                f"    s = {reference}",
                *(f"    {line}" for line in call),
            ]
        return f"{name}()"

    def _outcome(self, model: ModelSpec) -> str:
        if model.outcome is None:
            raise _Undetermined("the model names no outcome")
        return model.outcome

    def _varying(self, text: str, sample: _Sample) -> str:
        """Source of an expression that must have a value for each observation."""
        source = self._expression(text, sample, "s")
        if 's["' not in source:
            raise _Undetermined(f"{text!r} is the same for all observations")
        return source

    def _estimation(self, model: ModelSpec, sample: _Sample) -> list[str]:
        estimator = model.estimator
        if estimator in {
            Estimator.OLS,
            Estimator.WLS,
            Estimator.FIXED_EFFECTS,
            Estimator.FIRST_DIFFERENCES,
        }:
            return self._linear(model, sample)
        if estimator is Estimator.TWO_STAGE_LEAST_SQUARES:
            return self._instrumental(model, sample)
        if estimator is Estimator.RANDOM_EFFECTS:
            return self._random_effects(model, sample)
        if estimator in {Estimator.LOGIT, Estimator.PROBIT}:
            return self._call(model, sample, f"eco.binary({estimator.value!r}, ")
        if estimator is Estimator.TOBIT:
            return self._tobit(model, sample)
        if estimator in _COUNT_ESTIMATORS:
            return self._count(model, sample)
        if estimator is Estimator.DIFFERENCE_GMM:
            return self._difference_gmm(model, sample)
        if estimator is Estimator.LOCAL_DIFFERENCE:
            return self._local_difference(model, sample)
        raise _Undetermined(f"no rule for the estimator {estimator.value}")

    def _linear(self, model: ModelSpec, sample: _Sample) -> list[str]:
        extra = []
        if model.fixed_effects:
            extra.append(f"absorbed={self._frame(model.fixed_effects, sample)}")
        if model.weights:
            extra.append(f"weights={self._varying(model.weights, sample)}")
        if not model.constant:
            extra.append("constant=False")
        return self._call(model, sample, "eco.linear(", extra)

    def _random_effects(self, model: ModelSpec, sample: _Sample) -> list[str]:
        file = self.files[sample.definition.files[0]]
        if file.unit is None or file.time is None:
            raise _Undetermined("random effects need a file with a panel index")
        extra = [f's["{file.unit}"]'.join(("unit=", "")), f'time=s["{file.time}"]']
        return self._call(model, sample, "eco.random_effects(", extra)

    def _tobit(self, model: ModelSpec, sample: _Sample) -> list[str]:
        settings = model.settings or {}
        extra = [
            f"{side}={self._setting(settings.get(f'{side}_censoring'), none)}"
            for side, none in (
                ("left", "0.0" if "right_censoring" not in settings else "None"),
                ("right", "None"),
            )
        ]
        return self._call(model, sample, "eco.tobit(", extra)

    def _count(self, model: ModelSpec, sample: _Sample) -> list[str]:
        extra = []
        if model.second_part:
            extra.append(f"second={self._columns(model.second_part, sample)}")
        opening = f"eco.count_model({_COUNT_ESTIMATORS[model.estimator]!r}, "
        if model.estimator is Estimator.QUASI_POISSON:
            return self._call(model, sample, opening, extra, variance="quasi")
        return self._call(model, sample, opening, extra)

    def _instrumental(self, model: ModelSpec, sample: _Sample) -> list[str]:
        exogenous = [
            term for term in [*model.regressors, *model.controls] if term not in model.endogenous
        ]
        exogenous += [f"category({effect})" for effect in model.fixed_effects]
        return [
            "return eco.instrumental(",
            f"    {self._varying(self._outcome(model), sample)},",
            f"    exogenous={self._columns(exogenous, sample)},",
            f"    endogenous={self._columns(model.endogenous, sample)},",
            f"    instruments={self._columns(model.instruments, sample)},",
            *(f"    {line}," for line in self._variance(model, sample)),
            ")",
        ]

    def _difference_gmm(self, model: ModelSpec, sample: _Sample) -> list[str]:
        file = self.files[sample.definition.files[0]]
        if file.unit is None or file.time is None:
            raise _Undetermined("difference GMM needs a file with a panel index")
        if len(model.instruments) != 1:
            raise _Undetermined("difference GMM needs the one variable whose levels instrument")
        settings = model.settings or {}
        terms = [*model.regressors, *model.controls]
        whole = {term: self._materialised(term, sample) for term in terms}
        exogenous = [term for term in terms if term not in model.endogenous]
        lag = settings.get("instrument_lags")
        robust = model.standard_errors.kind.value not in {"classical", "hessian"}
        return [
            "return eco.difference_gmm(",
            "    s,",
            f"    {self._materialised(self._outcome(model), sample)!r},",
            f"    {[whole[term] for term in model.endogenous]!r},",
            f"    {[whole[term] for term in exogenous]!r},",
            f"    instrument={self._materialised(model.instruments[0], sample)!r},",
            f"    unit={file.unit!r},",
            f"    time={file.time!r},",
            f"    time_effects={file.time in model.fixed_effects},",
            f"    first_instrument_lag=int({self._setting(lag, '2')}),",
            f"    steps={_steps(settings.get('steps'), self.parameters)},",
            f"    robust={robust},",
            ")",
        ]

    def _local_difference(self, model: ModelSpec, sample: _Sample) -> list[str]:
        settings = model.settings or {}
        needed = ("running_variable", "cutoff", "bandwidth")
        absent = [key for key in needed if key not in settings]
        if absent:
            raise _Undetermined(f"a local difference needs {', '.join(absent)}")
        running = self._varying(settings["running_variable"], sample)
        return [
            "return eco.local_difference(",
            f"    {self._varying(self._outcome(model), sample)},",
            f"    {running},",
            f"    cutoff={self._setting(settings['cutoff'], '0')},",
            f"    bandwidth={self._setting(settings['bandwidth'], '0')},",
            *(f"    {line}," for line in self._variance(model, sample)),
            ")",
        ]

    def _call(
        self,
        model: ModelSpec,
        sample: _Sample,
        opening: str,
        extra: Iterable[str] = (),
        variance: str | None = None,
    ) -> list[str]:
        columns = self._columns([*model.regressors, *model.controls], sample)
        chosen = [f"variance={variance!r}"] if variance else self._variance(model, sample)
        return [
            f"return {opening}",
            f"    {self._varying(self._outcome(model), sample)},",
            f"    {columns},",
            *(f"    {line}," for line in extra),
            *(f"    {line}," for line in chosen),
            ")",
        ]

    def _variance(self, model: ModelSpec, sample: _Sample) -> list[str]:
        errors = model.standard_errors
        kind = VarianceKind.UNSTATED if errors.kind in _NOT_DETERMINED else errors.kind
        lines = [f"variance={kind.value!r}"]
        if errors.clusters:
            lines.append(f"clusters={self._frame(errors.clusters, sample)}")
        return lines

    def _use_parameters(self, names: Iterable[str]) -> None:
        for name in names:
            if not name.isidentifier() or keyword.iskeyword(name) or name in _TAKEN:
                raise _Undetermined(f"{name!r} cannot be the name of a parameter in a script")
            if not math.isfinite(self.parameters[name]):
                raise _Undetermined(f"the parameter {name!r} is no finite number")
            self.used_parameters.add(name)

    def _setting(self, value: str | None, default: str) -> str:
        if value is None:
            return default
        if value in self.parameters:
            self._use_parameters([value])
            return value
        if re.fullmatch(r"-?\d+(\.\d+)?", value):
            return value
        raise _Undetermined(f"the setting {value!r} is not a parameter")

    # ------------------------------------------------------------ samples

    def _ready(self, model: ModelSpec) -> tuple[_Sample, str]:
        if model.sample not in self.samples:
            if model.sample not in self.definitions:
                raise _Undetermined(f"the methods define no sample {model.sample!r}")
            self.samples[model.sample] = self._new_sample(self.definitions[model.sample])
        sample = self.samples[model.sample]
        return sample, f"{sample.name}()"

    def _new_sample(self, definition: SampleDefinition) -> _Sample:
        if not definition.files:
            raise _Undetermined(f"the sample {definition.id!r} names no file")
        lines: dict[str, list[str]] = {name: [] for name in definition.files}
        sample = _Sample(definition, self._unique("sample_", definition.id), lines)
        for name in definition.files:
            if name not in self.files:
                raise _Undetermined(f"the methods describe no file {name!r}")
            sample.known |= {variable.name for variable in self.files[name].variables}
            sample.known |= {k for k in (self.files[name].unit, self.files[name].time) if k}
        if definition.filter:
            self._require(definition.filter, sample)
            sample.filter = self._filter(definition, definition.filter, sample)
        return sample

    def _filter(self, definition: SampleDefinition, text: str, sample: _Sample) -> str:
        """Source of a sample's filter, over the whole of its files."""
        if len(definition.files) > 1 and _PANEL_FUNCTION.search(text):
            raise _Undetermined(f"the filter {text!r} needs the panel of one file")
        source = self._compile(text, sample, "d")
        if 'd["' not in source:
            raise _Undetermined(f"the filter {text!r} is the same for all observations")
        return source if is_condition(text) else f"eco.holds({source})"

    def _require(self, expression: str, sample: _Sample) -> None:
        """Define every derived variable that an expression needs, in the order of need."""
        derived = {d.name for d in self.methods.derived}
        for name in dict.fromkeys(re.findall(r"[A-Za-z_]\w*", expression)):
            if name not in derived or name in sample.materialised:
                continue
            sample.materialised[name] = name
            sources = []
            for file in sample.definition.files:
                definition = self._derivation(name, file)
                if definition is not None:
                    self._require(definition, sample)
                    sources.append((file, self._compile(definition, sample, "d")))
            for file, source in sources:
                sample.lines[file].append(f'd["{name}"] = {source}')
            if sources:
                sample.known.add(name)

    def _derivation(self, name: str, file: str) -> str | None:
        """Definition of a derived variable in one file; a general one holds where none is."""
        found = [d for d in self.methods.derived if d.name == name]
        for wanted in (file, None):
            for derivation in found:
                if derivation.file == wanted:
                    return derivation.definition
        return None

    def _compile(self, text: str, sample: _Sample, frame: str) -> str:
        compiled = compiled_expression(
            text, variables=sample.known, parameters=self.parameters, frame=frame
        )
        self._use_parameters(sorted(compiled.parameters))
        return compiled.source

    def _expression(self, text: str, sample: _Sample, frame: str) -> str:
        """Source over the filtered sample; what needs the whole panel is made before the cut."""
        self._require(text, sample)
        if _PANEL_FUNCTION.search(text):
            parts = [
                f'{frame}["{self._materialised(part, sample)}"]'
                if _PANEL_FUNCTION.search(part)
                else self._compile(part, sample, frame)
                for part in interaction_parts(text)
            ]
            return parts[0] if len(parts) == 1 else f"eco.interaction({', '.join(parts)})"
        return self._compile(text, sample, frame)

    def _materialised(self, text: str, sample: _Sample) -> str:
        """Name of a column that holds an expression, made over the whole file."""
        self._require(text, sample)
        if text in sample.known:
            return text
        if text not in sample.materialised:
            source = self._compile(text, sample, "d")
            column = self._unique("", text)
            sample.materialised[text] = column
            for lines in sample.lines.values():
                lines.append(f'd["{column}"] = {source}')
        return sample.materialised[text]

    def _columns(self, terms: Iterable[str], sample: _Sample) -> str:
        entries = [f"{term!r}: {self._expression(term, sample, 's')}" for term in terms]
        return "{" + ", ".join(entries) + "}"

    def _frame(self, names: Iterable[str], sample: _Sample) -> str:
        entries = [f"{name!r}: {self._expression(name, sample, 's')}" for name in names]
        return "pd.DataFrame({" + ", ".join(entries) + "})"

    def _sample_source(self, sample: _Sample) -> str:
        definition = sample.definition
        lines = ["@eco.once", f"def {sample.name}():"]
        if definition.description:
            lines.append(f'    """{_docstring(definition.description)}"""')
        several = len(definition.files) > 1
        if several:
            lines.append("    parts = []")
        for name in definition.files:
            file = self.files[name]
            lines.append(f'    d = eco.plain(eco.read_data("data", {_quoted(name)}))')
            if any("panel." in line for line in (*sample.lines[name], sample.filter or "")):
                lines.append(f"    panel = eco.Panel(d, {file.unit!r}, {file.time!r})")
            lines += [f"    {line}" for line in sample.lines[name]]
            if several:
                lines.append("    parts.append(d)")
        if several:
            lines.append("    d = pd.concat(parts, ignore_index=True)")
        lines.append(f"    return d.loc[{sample.filter}]" if sample.filter else "    return d")
        return "\n".join(lines)


def _the_one(entries: Sequence[_Entry], what: str) -> _Entry:
    """The only entry, or the one that all repeat."""
    if not entries:
        raise _Undetermined(f"the methods do not say {what}")
    if any(entry != entries[0] for entry in entries):
        raise _Undetermined(f"the methods say more than one thing of {what}")
    return entries[0]


def _refuse_what_would_be_ignored(model: ModelSpec) -> None:
    """Refuse a model that asks for what its estimator here does not do.

    A number that leaves out what was asked for is wrong, and looks like any other.
    """
    kind, errors = model.estimator, model.standard_errors
    linear = {Estimator.OLS, Estimator.WLS, Estimator.FIXED_EFFECTS}
    whole = {*linear, Estimator.DIFFERENCE_GMM}
    without_terms = {Estimator.LOCAL_DIFFERENCE, Estimator.OTHER, Estimator.SYSTEM_GMM}
    refused = {
        "the methods name no regressors": not model.regressors and kind not in without_terms,
        "weighted least squares without weights": kind is Estimator.WLS and not model.weights,
        "fixed effects without a variable": kind is Estimator.FIXED_EFFECTS
        and not model.fixed_effects,
        "no rule for first differences": kind is Estimator.FIRST_DIFFERENCES,
        "two stages need endogenous terms and instruments": kind
        is Estimator.TWO_STAGE_LEAST_SQUARES
        and not (model.endogenous and model.instruments),
        f"no rule for weights in {kind.value}": bool(model.weights) and kind not in linear,
        f"no rule for {kind.value} without a constant": not model.constant and kind not in whole,
        f"no rule for fixed effects in {kind.value}": bool(model.fixed_effects)
        and kind not in {*whole, Estimator.TWO_STAGE_LEAST_SQUARES},
        "fixed effects of an interaction": any(":" in one for one in model.fixed_effects),
        "clustered errors without a variable": errors.kind is VarianceKind.CLUSTER
        and not errors.clusters,
        f"{errors.kind.value} errors that name clusters": bool(errors.clusters)
        and errors.kind is not VarianceKind.CLUSTER,
    }
    for reason, holds in refused.items():
        if holds:
            raise _Undetermined(reason)


def _refuse_unknown_covariance(cell: Cell, row: RowMethods, model: ModelSpec) -> None:
    """Refuse what depends on a covariance that the methods do not determine."""
    reason = _NOT_DETERMINED.get(model.standard_errors.kind)
    if reason and (cell.metric in _FROM_COVARIANCE or row.quantity in _TESTS):
        raise _Undetermined(f"model {model.id}: {reason}")


def _identifier(text: str) -> str:
    return re.sub(r"\W+", "_", text).strip("_").lower()


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def _imports(blocks: Iterable[str]) -> str:
    """Import lines of a script: numpy and pandas only where they are used."""
    script = "\n".join(blocks)
    outside = [
        f"import {module} as {name}"
        for module, name in (("numpy", "np"), ("pandas", "pd"))
        if re.search(rf"\b{name}\.", script)
    ]
    return "\n".join([*outside, *([""] if outside else []), "import econometrics as eco"])


def _docstring(text: str) -> str:
    """Text between three double quotes: one line that neither ends in a quote nor escapes."""
    printable = "".join(character if character.isprintable() else " " for character in text)
    plain = printable.replace("\\", " ").replace('"""', "'").strip()
    return f"{plain} " if plain.endswith('"') else plain


def _pair_index(cell: Cell) -> int:
    if cell.metric is Metric.COEFFICIENT:
        return 0
    if cell.metric is Metric.STANDARD_ERROR:
        return 1
    raise _Undetermined(f"a local difference has no {cell.metric.value}")


def _steps(value: str | None, parameters: Mapping[str, float]) -> int:
    if value is None:
        raise _Undetermined("the methods do not say whether GMM takes one step or two")
    if value in parameters:
        return int(parameters[value])
    words = {"one": 1, "one_step": 1, "one-step": 1, "two": 2, "two_step": 2, "two-step": 2}
    if value.lower() not in words:
        raise _Undetermined(f"{value!r} is not a number of steps")
    return words[value.lower()]
