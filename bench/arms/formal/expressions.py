"""Expressions of the methods language, compiled to readable pandas code.

The language is described in `data.records.methods`. A name is a variable of the sample's frame
or a parameter; anything else is refused, so that a methods record cannot carry code of its own.
"""

from __future__ import annotations

import ast
import json
import math
from collections.abc import Collection
from dataclasses import dataclass
from typing import Final

__all__ = [
    "Expression",
    "ExpressionError",
    "compiled_expression",
    "interaction_parts",
    "is_condition",
]

_ELEMENTWISE: Final = {
    "log": "np.log",
    "exp": "np.exp",
    "sqrt": "np.sqrt",
    "abs": "np.abs",
    "square": "eco.square",
    "cube": "eco.cube",
    "indicator": "eco.indicator",
    "category": "eco.category",
    "standardize": "eco.standardize",
    "missing": "pd.isna",
    "where": "eco.where",
    "min": "eco.smaller",
    "max": "eco.larger",
    "rank": "eco.rank",
}
_WITHIN_PANEL: Final = {"lag", "lead", "difference", "cumulative", "group_mean", "group_sum"}
_ARGUMENTS: Final[dict[str, tuple[int, int | None]]] = {
    "where": (3, 3),
    "min": (1, None),
    "max": (1, None),
    "category": (1, 2),
    "lag": (1, 2),
    "lead": (1, 2),
    "difference": (1, 2),
    "group_mean": (1, 2),
    "group_sum": (1, 2),
}
"""Fewest and most arguments; one where a function is not named here."""
_OVER_ROWS: Final = {"standardize", "rank", "where", "category"} | _WITHIN_PANEL
"""Functions whose first argument must have a value a row."""
_BRACKETS_AROUND: Final = 12
"""Brackets that a script may put around an expression; Python reads no more than 200."""
_LARGEST_EXPONENT: Final = 100
_TOO_LARGE: Final = 1e300
_LONGEST_QUOTED: Final = 100
_BINARY: Final[dict[type[ast.operator], str]] = {
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.Div: "/",
    ast.Pow: "**",
}
_COMPARE: Final[dict[type[ast.cmpop], str]] = {
    ast.Eq: "==",
    ast.NotEq: "!=",
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
}


class ExpressionError(ValueError):
    """An expression that is outside the language, or names something unknown."""


@dataclass(frozen=True, slots=True)
class Expression:
    """Python source of an expression and the names that it uses."""

    source: str
    variables: frozenset[str]
    parameters: frozenset[str]


def interaction_parts(term: str) -> tuple[str, ...]:
    """Parts of an interaction `a:b`, split at colons outside brackets and quotes."""
    parts, depth, quoted, begin = [], 0, "", 0
    for position, character in enumerate(term):
        if quoted:
            quoted = "" if character == quoted else quoted
        elif character in "\"'":
            quoted = character
        elif character in "([":
            depth += 1
        elif character in ")]":
            depth -= 1
        elif character == ":" and depth == 0:
            parts.append(term[begin:position].strip())
            begin = position + 1
    parts.append(term[begin:].strip())
    return tuple(parts)


def compiled_expression(
    text: str, *, variables: Collection[str], parameters: Collection[str], frame: str = "d"
) -> Expression:
    """Source that computes an expression over the frame called `frame`.

    Parameters
    ----------
    text : str
        An expression or an interaction of expressions.
    variables : collection of str
        Columns of the frame, derived ones included.
    parameters : collection of str
        Names of the record's parameters; they become module-level constants.

    Raises
    ------
    ExpressionError
    """
    compiler = _Compiler(frozenset(variables), frozenset(parameters), frame)
    sources = [compiler.source_of(part) for part in interaction_parts(text)]
    source = sources[0] if len(sources) == 1 else f"eco.interaction({', '.join(sources)})"
    return Expression(source, frozenset(compiler.used), frozenset(compiler.constants))


class _Compiler:
    def __init__(self, variables: frozenset[str], parameters: frozenset[str], frame: str) -> None:
        self.variables, self.parameters, self.frame = variables, parameters, frame
        self.used: set[str] = set()
        self.constants: set[str] = set()

    def source_of(self, text: str) -> str:
        if text in self.variables:
            return self._column(text)
        try:
            tree = ast.parse(text, mode="eval")
        except SyntaxError as error:
            raise ExpressionError(f"{_short(text)} is not an expression: {error.msg}") from None
        except ValueError as error:
            raise ExpressionError(f"{_short(text)} is not an expression: {error}") from None
        except (RecursionError, MemoryError):
            raise ExpressionError(f"{_short(text)} is nested too deeply") from None
        try:
            source = self.visit(tree.body)
            ast.parse("(" * _BRACKETS_AROUND + source + ")" * _BRACKETS_AROUND)
        except (RecursionError, MemoryError, SyntaxError):
            raise ExpressionError(f"{_short(text)} is nested too deeply") from None
        return source

    def _column(self, name: str) -> str:
        self.used.add(name)
        return f"{self.frame}[{json.dumps(name, ensure_ascii=False)}]"

    def visit(self, node: ast.expr) -> str:
        method = getattr(self, f"_{type(node).__name__.lower()}", None)
        if method is None:
            raise ExpressionError(f"{ast.unparse(node)!r} is outside the language")
        source: str = method(node)
        return source

    def _varies(self, node: ast.expr) -> bool:
        """Whether an expression has a value a row, or is the same number for all."""
        return any(
            isinstance(part, ast.Name) and part.id in self.variables for part in ast.walk(node)
        )

    def _name(self, node: ast.Name) -> str:
        if node.id in self.variables:
            return self._column(node.id)
        if node.id in self.parameters:
            self.constants.add(node.id)
            return node.id
        raise ExpressionError(f"{node.id!r} is neither a variable nor a parameter")

    def _constant(self, node: ast.Constant) -> str:
        if not isinstance(node.value, str | int | float):
            raise ExpressionError(f"{node.value!r} is outside the language")
        if not isinstance(node.value, str) and not abs(node.value) < _TOO_LARGE:
            raise ExpressionError("a number is too large")
        return repr(node.value)

    def _binop(self, node: ast.BinOp) -> str:
        symbol = _BINARY.get(type(node.op))
        if symbol is None:
            raise ExpressionError(f"{ast.unparse(node)!r} uses an unknown operator")
        if any(_is_text(side) for side in (node.left, node.right)):
            raise ExpressionError(f"{ast.unparse(node)!r} computes with a text")
        if symbol == "**":
            self._check_power(node)
        return f"({self.visit(node.left)} {symbol} {self.visit(node.right)})"

    def _check_power(self, node: ast.BinOp) -> None:
        """Refuse whole-number powers whose digits would fill the memory."""
        exponent = _number(node.right)
        if exponent is None and not _names(node.right):
            raise ExpressionError(f"the exponent of {ast.unparse(node)!r} is no plain number")
        if exponent is not None and abs(exponent) > _LARGEST_EXPONENT:
            raise ExpressionError(f"an exponent is larger than {_LARGEST_EXPONENT}")
        if not _names(node.left) and _number(node.left) is None:
            raise ExpressionError(f"the base of {ast.unparse(node)!r} is no plain number")

    def _unaryop(self, node: ast.UnaryOp) -> str:
        if isinstance(node.op, ast.USub):
            return f"(-{self.visit(node.operand)})"
        if isinstance(node.op, ast.Not):
            return f"(~{self._condition(node.operand)})"
        raise ExpressionError(f"{ast.unparse(node)!r} uses an unknown operator")

    def _boolop(self, node: ast.BoolOp) -> str:
        joiner = " & " if isinstance(node.op, ast.And) else " | "
        return "(" + joiner.join(self._condition(value) for value in node.values) + ")"

    def _condition(self, node: ast.expr) -> str:
        """Source of a part of a condition; a number holds where it is not zero or missing."""
        source = self.visit(node)
        return source if _is_condition(node) else f"eco.holds({source})"

    def _compare(self, node: ast.Compare) -> str:
        steps, left = [], node.left
        for operator, right in zip(node.ops, node.comparators, strict=True):
            steps.append(self._comparison(left, operator, right))
            left = right
        return steps[0] if len(steps) == 1 else "(" + " & ".join(steps) + ")"

    def _comparison(self, left: ast.expr, operator: ast.cmpop, right: ast.expr) -> str:
        if isinstance(operator, ast.In | ast.NotIn):
            if not isinstance(right, ast.Tuple | ast.List):
                raise ExpressionError("`in` needs a list of values")
            if not self._varies(left) or any(self._varies(element) for element in right.elts):
                raise ExpressionError("`in` compares a variable with a list of fixed values")
            values = ", ".join(self.visit(element) for element in right.elts)
            inside = f"{self.visit(left)}.isin([{values}])"
            return inside if isinstance(operator, ast.In) else f"(~{inside})"
        symbol = _COMPARE.get(type(operator))
        if symbol is None:
            raise ExpressionError("an unknown comparison")
        return f"({self.visit(left)} {symbol} {self.visit(right)})"

    def _call(self, node: ast.Call) -> str:
        if not isinstance(node.func, ast.Name) or node.keywords:
            raise ExpressionError(f"{ast.unparse(node)!r} is outside the language")
        name = node.func.id
        if name not in _ELEMENTWISE and name not in _WITHIN_PANEL:
            raise ExpressionError(f"{name!r} is not a function of the language")
        self._check_arguments(name, node.args)
        arguments = ", ".join(self.visit(argument) for argument in node.args)
        if name in _WITHIN_PANEL:
            return f"panel.{name}({arguments})"
        return f"{_ELEMENTWISE[name]}({arguments})"

    def _check_arguments(self, name: str, given: list[ast.expr]) -> None:
        fewest, most = _ARGUMENTS.get(name, (1, 1))
        if len(given) < fewest or (most is not None and len(given) > most):
            raise ExpressionError(f"{name}() does not take {len(given)} arguments")
        over_rows = name in _OVER_ROWS or (name in {"min", "max"} and len(given) == 1)
        if over_rows and not self._varies(given[0]):
            raise ExpressionError(f"{name}() needs a variable")


def _short(text: str) -> str:
    return repr(text if len(text) <= _LONGEST_QUOTED else f"{text[:_LONGEST_QUOTED]}...")


def _number(node: ast.expr) -> float | None:
    """Value of a number, of its negative, or of a quotient of two such; None for all else."""
    if isinstance(node, ast.Constant) and isinstance(node.value, int | float):
        return float(node.value) if abs(node.value) < _TOO_LARGE else math.inf
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        inner = _number(node.operand)
        return None if inner is None else -inner
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div):
        above, below = _number(node.left), _number(node.right)
        return above / below if above is not None and below else None
    return None


def _names(node: ast.expr) -> bool:
    return any(isinstance(part, ast.Name) for part in ast.walk(node))


def is_condition(text: str) -> bool:
    """Whether an expression of the language is true or false, and not a number."""
    try:
        return _is_condition(ast.parse(text, mode="eval").body)
    except SyntaxError:
        return False


def _is_condition(node: ast.expr) -> bool:
    is_missing = isinstance(node, ast.Call) and _called(node) == "missing"
    is_not = isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not)
    return isinstance(node, ast.Compare | ast.BoolOp) or is_not or is_missing


def _called(node: ast.Call) -> str | None:
    return node.func.id if isinstance(node.func, ast.Name) else None


def _is_text(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)
