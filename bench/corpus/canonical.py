"""Frames of data whatever their file: one tidy form, one canonical text, one hash.

A canonical value is a number in its shortest notation (whole numbers without a point, so that
the storage type plays no part), a text, or nothing. An empty text is a missing one.
"""

from __future__ import annotations

import hashlib
import math
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from data.records.errors import UserError

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["FORMATS", "canonical_hash", "read_frame", "tidy_frame", "write_frame"]

FORMATS: Final = (".csv", ".dta", ".sav", ".rds", ".xlsx", ".parquet")
_ESCAPES: Final = str.maketrans({"\\": "\\\\", "\t": "\\t", "\n": "\\n", "\r": "\\r"})


def _is_missing(value: Any) -> bool:
    import pandas as pd

    return value is None or value is pd.NA or value is pd.NaT or value != value


def _tidy_text(value: Any) -> str | None:
    if _is_missing(value):
        return None
    text = str(value.date() if hasattr(value, "date") else value).strip()
    return text or None


def _tidy_column(column: pd.Series[Any]) -> pd.Series[Any]:
    """Column as 64-bit integers, floats, or objects that are text or None."""
    import pandas as pd

    if isinstance(column.dtype, pd.CategoricalDtype):
        column = column.astype(object)
    if pd.api.types.is_bool_dtype(column.dtype) and not column.isna().any():
        return column.astype("int64")
    present = [value for value in column.tolist() if not _is_missing(value)]
    if pd.api.types.is_numeric_dtype(column.dtype) or (
        present and all(isinstance(value, (bool, int, float)) for value in present)
    ):
        numbers = pd.to_numeric(column, errors="coerce").astype("Float64")
        if numbers.isna().any():
            return numbers.astype("float64")
        floats = numbers.astype("float64")
        return floats.astype("int64") if bool((floats % 1 == 0).all()) else floats
    texts = [_tidy_text(value) for value in column.tolist()]
    return pd.Series(texts, index=column.index, dtype=object, name=column.name)


def tidy_frame(frame: pd.DataFrame, columns: tuple[str, ...] = ()) -> pd.DataFrame:
    """Frame in plain types that every file format and every formula parser takes.

    Categories become text, truth values and nullable integers become numbers, texts lose blanks
    at their ends, and the `rownames` column of R data sets goes unless it is asked for.

    Parameters
    ----------
    frame : pandas.DataFrame
    columns : tuple of str
        Columns to keep, in this order; all but `rownames` when empty.

    Raises
    ------
    UserError
        When a column that is asked for does not exist.
    """
    import pandas as pd

    missing = [name for name in columns if name not in frame.columns]
    if missing:
        raise UserError(
            f"no column {', '.join(missing)} among {', '.join(map(str, frame.columns))}"
        )
    kept = list(columns) or [name for name in frame.columns if name != "rownames"]
    tidied = {str(name): _tidy_column(frame[name].reset_index(drop=True)) for name in kept}
    return pd.DataFrame(tidied, columns=[str(name) for name in kept])


def _canonical_number(value: float) -> str:
    if math.isnan(value):
        return ""
    return str(int(value)) if value.is_integer() and abs(value) < 2**53 else repr(value)


def _canonical_column(column: pd.Series[Any]) -> tuple[str, list[str]]:
    import pandas as pd

    if pd.api.types.is_numeric_dtype(column.dtype):
        return "number", [_canonical_number(float(value)) for value in column.tolist()]
    if column.isna().all():
        return "number", [""] * len(column)
    return "text", [
        "" if _is_missing(value) else str(value).translate(_ESCAPES) for value in column.tolist()
    ]


def canonical_hash(frame: pd.DataFrame) -> str:
    """SHA-256 of a tidy frame's canonical text, 64 hexadecimal digits.

    Notes
    -----
    The text has one line of column names in the given order, one of their types (number or
    text), and one a row; fields are separated by tabs, missing ones are empty.
    """
    names, types, columns = [], [], []
    for name in frame.columns:
        kind, values = _canonical_column(frame[name])
        names.append(str(name).translate(_ESCAPES))
        types.append(kind)
        columns.append(values)
    digest = hashlib.sha256(("\t".join(names) + "\n" + "\t".join(types) + "\n").encode())
    for row in zip(*columns, strict=True):
        digest.update(("\t".join(row) + "\n").encode())
    return digest.hexdigest()


# --------------------------------------------------------------------------- files


def _texts_filled(frame: pd.DataFrame) -> pd.DataFrame:
    """Frame whose missing texts are empty, for formats that know no missing text."""
    import pandas as pd

    filled = frame.copy()
    for name in filled.columns:
        if not pd.api.types.is_numeric_dtype(filled[name].dtype):
            filled[name] = filled[name].fillna("").astype(object)
    return filled


def write_frame(frame: pd.DataFrame, path: Path) -> None:
    """Write a tidy frame in the format of the path's suffix.

    Raises
    ------
    UserError
        When the suffix is none of `FORMATS`.
    """
    suffix = path.suffix
    if suffix == ".csv":
        frame.to_csv(path, index=False, lineterminator="\n")
    elif suffix == ".dta":
        _texts_filled(frame).to_stata(path, write_index=False, version=118)
    elif suffix == ".sav":
        import pyreadstat

        pyreadstat.write_sav(_texts_filled(frame), str(path))
    elif suffix == ".rds":
        import pyreadr

        pyreadr.write_rds(str(path), _texts_filled(frame))
    elif suffix == ".xlsx":
        frame.to_excel(path, index=False)
    elif suffix == ".parquet":
        frame.to_parquet(path, index=False)
    else:
        raise UserError(f"{path.name}: unknown data format; known are {', '.join(FORMATS)}")


def _read_csv(path: Path) -> pd.DataFrame:
    import pandas as pd

    return pd.read_csv(path, keep_default_na=False, na_values=[""], low_memory=False)


def _read_stata(path: Path) -> pd.DataFrame:
    import struct

    import pandas as pd

    try:
        return pd.read_stata(path, convert_categoricals=False)
    except struct.error as error:
        raise ValueError(f"the file ends too early: {error}") from None


def _read_spss(path: Path) -> pd.DataFrame:
    import pyreadstat

    try:
        frame: pd.DataFrame = pyreadstat.read_sav(str(path))[0]
    except pyreadstat.ReadstatError as error:
        raise ValueError(str(error)) from None
    return frame


def _read_r(path: Path) -> pd.DataFrame:
    import pyreadr
    from pyreadr.custom_errors import LibrdataError, PyreadrError

    try:
        frame: pd.DataFrame = next(iter(pyreadr.read_r(str(path)).values()))
    except (LibrdataError, PyreadrError) as error:
        raise ValueError(str(error)) from None
    return frame


def _read_excel(path: Path) -> pd.DataFrame:
    import zipfile

    import pandas as pd

    try:
        return pd.read_excel(path, keep_default_na=False, na_values=[""])
    except zipfile.BadZipFile as error:
        raise ValueError(str(error)) from None


def _read_parquet(path: Path) -> pd.DataFrame:
    import pandas as pd

    return pd.read_parquet(path)


_READERS: Final = {
    ".csv": _read_csv,
    ".dta": _read_stata,
    ".sav": _read_spss,
    ".rds": _read_r,
    ".xlsx": _read_excel,
    ".parquet": _read_parquet,
}


def read_frame(path: Path) -> pd.DataFrame:
    """Read a tidy frame from a data file, by its suffix.

    Raises
    ------
    UserError
        When the suffix is none of `FORMATS`, or the file is not of its format.
    """
    if path.suffix not in _READERS:
        raise UserError(f"{path.name}: unknown data format; known are {', '.join(FORMATS)}")
    try:
        frame = _READERS[path.suffix](path)
    except (ValueError, OSError, LookupError, StopIteration) as error:
        raise UserError(f"{path}: cannot be read as {path.suffix[1:]}: {error}") from None
    return tidy_frame(frame, tuple(str(name) for name in frame.columns))
