"""Records at the file border: checked on the way in, canonical on the way out.

Records themselves are plain frozen dataclasses; this module alone knows pydantic, and imports
it when first asked.
"""

from __future__ import annotations

import json
import math
from functools import cache
from typing import TYPE_CHECKING, Any, TypeVar

from data.records.errors import RecordError

if TYPE_CHECKING:
    from pydantic import TypeAdapter

__all__ = ["record_from_json", "record_from_values", "record_to_json", "record_to_values"]

R = TypeVar("R")


@cache
def _adapter(kind: type[Any]) -> TypeAdapter[Any]:
    from pydantic import TypeAdapter

    return TypeAdapter(kind)


def record_from_values(kind: type[R], values: Any, *, where: str) -> R:
    """Record of type `kind` from plain values (dicts, lists, numbers, strings).

    Parameters
    ----------
    kind : type
        A record's dataclass.
    values : object
        What a JSON or TOML file held.
    where : str
        The file's name, for the error's text.

    Raises
    ------
    RecordError
        Naming the file, the field and what is wrong with it.
    """
    from pydantic import ValidationError

    try:
        record: R = _adapter(kind).validate_python(values)  # type: ignore[arg-type]
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        place = ".".join(str(part) for part in first["loc"]) or "the top level"
        more = f" (and {error.error_count() - 1} more)" if error.error_count() > 1 else ""
        raise RecordError(f"{where}: {place}: {first['msg']}{more}") from None
    return record


class _NotFiniteError(Exception):
    """A number that JSON does not have, or that no float holds."""


def _refuse_constant(text: str) -> float:
    raise _NotFiniteError(text)


def _finite(text: str) -> float:
    value = float(text)
    if math.isinf(value):
        raise _NotFiniteError(text[:40])
    return value


def record_from_json(kind: type[R], content: bytes | str, *, where: str) -> R:
    """Record of type `kind` from JSON text.

    Raises
    ------
    RecordError
        When the text is not JSON, or not such a record.
    """
    try:
        values = json.loads(content, parse_constant=_refuse_constant, parse_float=_finite)
    except ValueError as error:  # not JSON, not UTF-8, or a whole number without end
        raise RecordError(f"{where}: not valid JSON: {error}") from None
    except _NotFiniteError as error:
        raise RecordError(f"{where}: {error} is no finite number") from None
    except RecursionError:
        raise RecordError(f"{where}: nested too deeply to be read") from None
    return record_from_values(kind, values, where=where)


def record_to_values(record: Any) -> Any:
    """Plain values of a record, as they stand in a JSON file."""
    return _adapter(type(record)).dump_python(record, mode="json")  # type: ignore[arg-type]


def record_to_json(record: Any) -> bytes:
    """Canonical JSON of a record: field order as declared, two spaces, final newline."""
    text = json.dumps(record_to_values(record), ensure_ascii=False, indent=2, allow_nan=False)
    return text.encode() + b"\n"
