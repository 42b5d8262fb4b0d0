"""Runs fast checks against copies of the package `grade`, and says which of them fail.

    python mutation_checks.py COPY...

Each COPY is a folder that holds a `grade` package. One line of JSON a copy: its name, the check
that failed first (null where none did) and the name of the error. Run apart from pytest, since
a copy takes the place of the installed package.
"""

import importlib
import itertools
import json
import sys
from pathlib import Path

from hypothesis import HealthCheck, Phase, given, settings

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
MODULES = ("test_golden", "test_papers", "test_alignment", "test_rescaling", "test_workspace")
READING = "test_reading"
ORACLE = "test_oracle"
EXAMPLES = 30


def use_copy(folder):
    """Make `folder` the place that `grade` is imported from, and forget the last one."""
    for name in list(sys.modules):
        if name.split(".")[0] in {"grade", "builders", "golden_cases", *MODULES, READING, ORACLE}:
            del sys.modules[name]
    sys.path[:] = [
        str(folder),
        str(HERE),
        str(ROOT),
        *(entry for entry in sys.path if Path(entry) not in {HERE, ROOT} and "/copy_" not in entry),
    ]
    importlib.invalidate_caches()
    package = importlib.import_module("grade")
    if Path(package.__file__).parent.parent.resolve() != folder.resolve():
        raise ImportError(f"grade was imported from {package.__file__}")


def calls(module):
    """Name and call of each test of a module, one for each set of its parameters."""
    for name, function in vars(module).items():
        if not name.startswith("test_") or hasattr(function, "hypothesis"):
            continue
        for arguments in parameter_sets(function):
            yield name, lambda function=function, arguments=arguments: function(**arguments)


def parameter_sets(function):
    marks = [mark for mark in getattr(function, "pytestmark", []) if mark.name == "parametrize"]
    choices = []
    for mark in marks:
        names, values = mark.args[:2]
        if isinstance(names, str):
            choices.append([{names: value} for value in values])
        else:
            choices.append([dict(zip(names, value, strict=True)) for value in values])
    for chosen in itertools.product(*choices):
        yield {name: value for part in chosen for name, value in part.items()}


def oracle_calls():
    """Comparison of whole tables with the slow grader, on a few tables, always the same."""
    module = importlib.import_module(ORACLE)
    for rubric, rule in module.RULES:
        yield f"oracle, {rule}", compared_on_few(module, rubric, rule)


def compared_on_few(module, rubric, rule):
    compare = module.test_whole_tables_agree_with_the_oracle.hypothesis.inner_test

    @settings(
        max_examples=EXAMPLES,
        derandomize=True,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        report_multiple_bugs=False,
        suppress_health_check=list(HealthCheck),
    )
    @given(drawn=module.tables())
    def few(drawn):
        compare(rubric, rule, drawn)

    return few


def all_calls():
    for name in (*MODULES, READING):
        yield from calls(importlib.import_module(name))
    yield from oracle_calls()
    yield from calls(importlib.import_module(ORACLE))


def first_failure(folder):
    """Check that fails first and its error's name; (None, None) where all pass."""
    use_copy(folder)
    for name, call in all_calls():
        try:
            call()
        except Exception as error:  # noqa: BLE001  whatever a mistake raises is the answer
            return name, type(error).__name__
    return None, None


def main(folders):
    for folder in folders:
        check, error = first_failure(Path(folder))
        print(json.dumps({"copy": Path(folder).name, "check": check, "error": error}), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
