"""Reading a store: find it, open it for reading only, ask it."""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from data.records.errors import UserError

if TYPE_CHECKING:
    import duckdb
    import pandas as pd

__all__ = ["STORE_NAME", "export_store", "find_store", "frame", "open_store", "unpack_artifact"]

STORE_NAME = "store.duckdb"


def find_store(where: Path) -> Path:
    """Path of the store meant by `where`.

    Parameters
    ----------
    where : Path
        The store itself, a leaderboard's folder that holds one, or a working directory below
        whose ``runs/`` exactly one leaderboard has a store.

    Raises
    ------
    UserError
        When there is none, or several to choose from.
    """
    if where.is_file():
        return where
    if (where / STORE_NAME).is_file():
        return where / STORE_NAME
    found = sorted((where / "runs").glob(f"*/{STORE_NAME}")) if where.is_dir() else []
    if len(found) == 1:
        return found[0]
    if found:
        names = ", ".join(str(path) for path in found)
        raise UserError(f"several stores under {where}: name one of {names}")
    raise UserError(f"no store at {where}: make one with `bench store build RUNS/LEADERBOARD`")


@contextmanager
def open_store(path: Path) -> Iterator[duckdb.DuckDBPyConnection]:
    """Open a store for reading only; closed when the block ends.

    Raises
    ------
    UserError
        When the file is not a store, or of a version that this program does not read.
    """
    import duckdb

    from data.store.build import STORE_SCHEMA_VERSION

    options: dict[str, Any] = {"enable_external_access": "false"}
    try:
        connection = duckdb.connect(str(path), read_only=True, config=options)
    except duckdb.Error as error:
        raise UserError(f"{path}: not a readable store: {str(error).splitlines()[0]}") from None
    try:
        connection.execute("SET TimeZone = 'UTC'")
        version = _schema_version(connection)
        if version != str(STORE_SCHEMA_VERSION):
            raise UserError(
                f"{path}: store version {version or 'unknown'}, this program reads "
                f"{STORE_SCHEMA_VERSION}: rebuild it with `bench store build`",
            )
        yield connection
    finally:
        connection.close()


def _schema_version(connection: duckdb.DuckDBPyConnection) -> str | None:
    import duckdb

    try:
        row = connection.execute("SELECT value FROM meta WHERE key = 'schema_version'").fetchone()
    except duckdb.Error:
        return None
    return None if row is None else str(row[0])


def frame(
    connection: duckdb.DuckDBPyConnection,
    sql: str,
    values: Mapping[str, object] | None = None,
) -> pd.DataFrame:
    """Answer of one query as a frame.

    Raises
    ------
    UserError
        With the first line of what the database says of the query.
    """
    import duckdb

    try:
        return connection.execute(sql, dict(values) if values else None).df()
    except duckdb.Error as error:
        raise UserError(f"the store refuses the query: {str(error).splitlines()[0]}") from None


def export_store(store: Path, to: Path) -> tuple[Path, ...]:
    """Write every table of a store as Parquet and as CSV.

    Parameters
    ----------
    store : Path
    to : Path
        Folder; made when missing. Files are replaced by rename.

    Returns
    -------
    tuple of Path
        The files written, in name order. The CSV of `artifacts` leaves the contents out.
    """
    import pyarrow.csv
    import pyarrow.parquet

    to.mkdir(parents=True, exist_ok=True)
    written: list[Path] = []
    with open_store(store) as connection:
        names = [str(row[0]) for row in connection.execute(_TABLES).fetchall()]
        for name in names:
            table = connection.sql(f'SELECT * FROM "{name}" ORDER BY ALL').to_arrow_table()  # noqa: S608
            parquet = to / f"{name}.parquet"
            temporary = parquet.with_suffix(".tmp")
            pyarrow.parquet.write_table(table, temporary, compression="zstd")
            temporary.replace(parquet)
            csv = to / f"{name}.csv"
            pyarrow.csv.write_csv(_flat(connection, name), temporary)
            temporary.replace(csv)
            written += [csv, parquet]
    return tuple(written)


_TABLES = (
    "SELECT table_name FROM information_schema.tables "
    "WHERE table_type = 'BASE TABLE' ORDER BY table_name"
)


def _flat(connection: duckdb.DuckDBPyConnection, name: str) -> Any:
    """Columns of a table as CSV can hold them: lists as JSON text, no binary."""
    columns = connection.execute(
        "SELECT column_name, data_type FROM information_schema.columns "
        "WHERE table_name = ? ORDER BY ordinal_position",
        [name],
    ).fetchall()
    wanted = [
        f'to_json("{column}")::VARCHAR AS "{column}"' if str(kind).endswith("[]") else f'"{column}"'
        for column, kind in columns
        if kind != "BLOB"
    ]
    query = f'SELECT {", ".join(wanted)} FROM "{name}" ORDER BY ALL'  # noqa: S608
    return connection.sql(query).to_arrow_table()


def unpack_artifact(content: bytes) -> str:
    """Text of a stored script or log; bytes that are not UTF-8 are shown as replaced."""
    return zlib.decompress(content).decode("utf-8", errors="replace")
