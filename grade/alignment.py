"""Which reproduced cell answers which published one. Values are never looked at."""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from data.records.grades import Alignment, Reason
from grade.columns import (
    LEVEL_SEPARATOR,
    REASON_CODES,
    UNKNOWN,
    PublishedColumns,
    ReproducedColumns,
)

__all__ = ["Aligned", "align", "normal_label"]

Integers = NDArray[np.int64]
Booleans = NDArray[np.bool_]

DASHES: Final = re.compile("[\u2010-\u2015\u2212\ufe58\ufe63\uff0d]")
BLANKS: Final = re.compile(r"\s+")
MISSING: Final = REASON_CODES[Reason.MISSING]
OK: Final = REASON_CODES[Reason.OK]


@dataclass(frozen=True, slots=True)
class Aligned:
    """For each published cell the entry of its reproduced one (-1 none) and a reason.

    `answered` says of each reproduced cell whether it answers a published one; `by_labels` of
    each table whether labels, not keys, decided.
    """

    match: Integers
    reason: Integers
    answered: Booleans
    by_labels: Booleans


class _Address(NamedTuple):
    """Where a cell stands by its labels, normalised."""

    panel: str
    row_label: str
    col_label: str
    metric: int
    part: int


def normal_label(label: str) -> str:
    """Label without differences of case, blanks, dashes and compatibility characters."""
    text = DASHES.sub("-", unicodedata.normalize("NFKC", label)).casefold()
    levels = text.split(LEVEL_SEPARATOR)
    return LEVEL_SEPARATOR.join(BLANKS.sub(" ", level).strip().rstrip(":.") for level in levels)


def align(rule: Alignment, published: PublishedColumns, reproduced: ReproducedColumns) -> Aligned:
    """Align all tables at once.

    A cell that its file gives twice is matched and marked `duplicate`. Tables whose labels
    disagree with their keys are aligned by labels under `labels`, and so are, under either
    method, tables with cells that have no key.
    """
    key, given_key = _keys(published, reproduced)
    match, doubled = _match_by_key(key, given_key)
    by_labels = np.zeros(published.n_tables, dtype=bool)
    by_labels[reproduced.table[_keyless(reproduced)]] = True
    if rule.method == "labels":
        by_labels |= _tables_that_disagree(published, reproduced, match)
    reason = np.where(match == UNKNOWN, MISSING, OK)
    for table in np.flatnonzero(by_labels):
        ours = np.flatnonzero(published.table == table)
        theirs = np.flatnonzero(reproduced.table == table)
        match[ours] = UNKNOWN
        _align_table(rule, published, reproduced, ours, ours, theirs, match, reason)
    if rule.method == "labels":
        _align_rests(rule, published, reproduced, by_labels, match, reason)
    found = np.flatnonzero(match != UNKNOWN)
    reason[found] = reproduced.reason[match[found]]
    reason[found[doubled[match[found]]]] = REASON_CODES[Reason.DUPLICATE]
    answered = np.zeros(len(reproduced), dtype=bool)
    answered[match[found]] = True
    answered |= doubled
    return Aligned(match=match, reason=reason, answered=answered, by_labels=by_labels)


# --------------------------------------------------------------------------- by key


def _keyless(reproduced: ReproducedColumns) -> Booleans:
    mask: Booleans = (reproduced.row < 0) | (reproduced.col < 0)
    return mask


def _keys(published: PublishedColumns, reproduced: ReproducedColumns) -> tuple[Integers, Integers]:
    """Keys as single integers; -1 for a reproduced key that no published cell can have."""
    n_rows = int(published.row.max(initial=0)) + 1
    n_cols = int(published.col.max(initial=0)) + 1
    n_parts = int(published.part.max(initial=0)) + 1

    def combined(columns: PublishedColumns | ReproducedColumns) -> Integers:
        key: Integers = (
            (columns.table * n_rows + columns.row) * n_cols + columns.col
        ) * n_parts + columns.part
        return key

    outside = _keyless(reproduced) | (reproduced.part < 0)
    outside |= (reproduced.row >= n_rows) | (reproduced.col >= n_cols)
    outside |= reproduced.part >= n_parts
    return combined(published), np.where(outside, UNKNOWN, combined(reproduced))


def _match_by_key(key: Integers, given_key: Integers) -> tuple[Integers, Booleans]:
    """First reproduced entry with each published key, and which entries share a key."""
    doubled = np.zeros(len(given_key), dtype=bool)
    match = np.full(len(key), UNKNOWN, dtype=np.int64)
    if not len(given_key):
        return match, doubled
    order = np.argsort(given_key, kind="stable")
    ordered = given_key[order]
    same = np.zeros(len(order), dtype=bool)
    same[1:] = (ordered[1:] == ordered[:-1]) & (ordered[1:] != UNKNOWN)
    doubled[order[same]] = True
    doubled[order[:-1][same[1:]]] = True
    place = np.minimum(np.searchsorted(ordered, key), len(ordered) - 1)
    hit = ordered[place] == key
    match[hit] = order[place[hit]]
    return match, doubled


def _tables_that_disagree(
    published: PublishedColumns, reproduced: ReproducedColumns, match: Integers
) -> Booleans:
    """Tables where a reproduced cell's labels are not those of the published cell at its key."""
    matched = np.flatnonzero(match != UNKNOWN)
    given = match[matched]
    wrong = np.zeros(len(matched), dtype=bool)
    for name in ("row_label", "col_label", "panel"):
        ours = getattr(published, name)[matched]
        theirs = getattr(reproduced, name)[given]
        places = np.flatnonzero(ours != theirs)
        differ = [
            label is not None and normal_label(label) != normal_label(known)
            for known, label in zip(ours[places], theirs[places], strict=True)
        ]
        wrong[places] |= np.array(differ, dtype=bool)
    metric = reproduced.metric[given]
    wrong |= (metric != UNKNOWN) & (metric != published.metric[matched])
    disagree = np.zeros(published.n_tables, dtype=bool)
    disagree[published.table[matched[wrong]]] = True
    return disagree


# --------------------------------------------------------------------------- by labels


def _align_rests(
    rule: Alignment,
    published: PublishedColumns,
    reproduced: ReproducedColumns,
    by_labels: Booleans,
    match: Integers,
    reason: Integers,
) -> None:
    """Align by labels what keys have left over on both sides of tables that agree otherwise."""
    unanswered = np.ones(len(reproduced), dtype=bool)
    unanswered[match[match != UNKNOWN]] = False
    waiting = np.zeros(published.n_tables, dtype=bool)
    waiting[reproduced.table[unanswered]] = True
    open_tables = np.unique(published.table[match == UNKNOWN])
    for table in open_tables[waiting[open_tables] & ~by_labels[open_tables]]:
        ours = np.flatnonzero(published.table == table)
        rest = ours[match[ours] == UNKNOWN]
        theirs = np.flatnonzero((reproduced.table == table) & unanswered)
        taken = _taken_keys(reproduced, match[ours])
        theirs = np.array(
            [entry for entry in theirs.tolist() if _key_of(reproduced, entry) not in taken],
            dtype=np.int64,
        )
        if len(theirs):
            _align_table(rule, published, reproduced, ours, rest, theirs, match, reason)


def _taken_keys(reproduced: ReproducedColumns, match: Integers) -> set[tuple[int, int, int]]:
    return {_key_of(reproduced, entry) for entry in match.tolist() if entry != UNKNOWN}


def _key_of(reproduced: ReproducedColumns, entry: int) -> tuple[int, int, int]:
    return int(reproduced.row[entry]), int(reproduced.col[entry]), int(reproduced.part[entry])


def _align_table(
    rule: Alignment,
    published: PublishedColumns,
    reproduced: ReproducedColumns,
    table: Integers,
    ours: Integers,
    theirs: Integers,
    match: Integers,
    reason: Integers,
) -> None:
    """Align cells of one table by labels; writes their entries of `match` and `reason`.

    `table` are all published cells of the table, `ours` those that are open.
    """
    reason[ours] = MISSING
    first = _first_of_each_key(reproduced, theirs)
    addresses, given_addresses = _addresses(rule, published, reproduced, ours, first)
    waiting = _match_by_address(addresses, given_addresses, match, reason)
    _match_by_estimate(published, reproduced, table, waiting, match, reason)


def _first_of_each_key(reproduced: ReproducedColumns, entries: Integers) -> list[int]:
    """Entries in the order of their keys, without repetitions; those without a key are all kept.

    Where labels repeat, order decides: that of the keys, not of the lines of a file.
    """
    first: dict[tuple[int, int, int, int], int] = {}
    for entry in entries.tolist():
        key = _key_of(reproduced, entry)
        own = entry if min(key[:2]) < 0 else UNKNOWN
        first.setdefault((*key, own), entry)
    return [first[key] for key in sorted(first)]


def _addresses(
    rule: Alignment,
    published: PublishedColumns,
    reproduced: ReproducedColumns,
    ours: Integers,
    theirs: Sequence[int],
) -> tuple[dict[int, _Address], dict[int, _Address | None]]:
    """Addresses of both sides in the template's words; None where a label has no counterpart.

    What the whole file leaves unsaid (panels, header levels above the last, metrics) is left
    out on both sides.
    """
    panels = {entry: normal_label(published.panel[entry]) for entry in ours.tolist()}
    given_panels = {entry: _given(reproduced.panel[entry]) for entry in theirs}
    without_panels = not any(given_panels.values())
    innermost = all(LEVEL_SEPARATOR not in (reproduced.col_label[entry] or "") for entry in theirs)
    without_metric = bool(np.all(reproduced.metric[list(theirs)] == UNKNOWN))

    def column(label: str) -> str:
        normal = normal_label(label)
        return normal.rpartition(LEVEL_SEPARATOR)[2] if innermost else normal

    addresses = {
        entry: _Address(
            panel="" if without_panels else panels[entry],
            row_label=normal_label(published.row_label[entry]),
            col_label=column(published.col_label[entry]),
            metric=UNKNOWN if without_metric else int(published.metric[entry]),
            part=int(published.part[entry]),
        )
        for entry in ours.tolist()
    }
    columns = {entry: column(reproduced.col_label[entry] or "") for entry in theirs}
    panel_words = _counterparts(
        rule, {address.panel for address in addresses.values()}, set(given_panels.values())
    )
    column_words = _counterparts(
        rule, {address.col_label for address in addresses.values()}, set(columns.values())
    )
    rows_of: dict[str, set[str]] = defaultdict(set)
    for address in addresses.values():
        rows_of[address.panel].add(address.row_label)
    given_rows_of: dict[str, set[str]] = defaultdict(set)
    for entry in theirs:
        panel = "" if without_panels else panel_words.get(given_panels[entry])
        if panel is not None:
            given_rows_of[panel].add(_given(reproduced.row_label[entry]))
    row_words = {
        panel: _counterparts(rule, rows_of[panel], labels)
        for panel, labels in given_rows_of.items()
    }

    given_addresses: dict[int, _Address | None] = {}
    for entry in theirs:
        panel = "" if without_panels else panel_words.get(given_panels[entry])
        row = row_words.get(panel or "", {}).get(_given(reproduced.row_label[entry]))
        col = column_words.get(columns[entry])
        if panel is None or row is None or col is None:
            given_addresses[entry] = None
            continue
        given_addresses[entry] = _Address(
            panel=panel,
            row_label=row,
            col_label=col,
            metric=UNKNOWN if without_metric else int(reproduced.metric[entry]),
            part=int(reproduced.part[entry]),
        )
    return addresses, given_addresses


def _given(label: str | None) -> str:
    return "" if label is None else normal_label(label)


def _counterparts(rule: Alignment, words: set[str], given: set[str]) -> dict[str, str]:
    """Template's word for each given one: the same, or else the only similar enough.

    A word that is given exactly is not taken by a merely similar one, nor by two of them.
    """
    exact = {word: word for word in given & words}
    similar: dict[str, list[str]] = defaultdict(list)
    for word in sorted(given - words):
        closest = _closest(rule, word, sorted(words))
        if closest is not None and closest not in exact:
            similar[closest].append(word)
    fuzzy = {found[0]: word for word, found in similar.items() if len(found) == 1}
    return exact | fuzzy


def _closest(rule: Alignment, word: str, words: Iterable[str]) -> str | None:
    from rapidfuzz import fuzz

    ranked = sorted(((fuzz.ratio(word, other) / 100, other) for other in words), reverse=True)
    if not ranked or not word or ranked[0][0] < rule.similarity:
        return None
    second = ranked[1][0] if len(ranked) > 1 else 0.0
    # The margin is a decimal number; similarities are ratios of whole numbers.
    return ranked[0][1] if ranked[0][0] - second >= rule.margin - 1e-9 else None


def _match_by_address(
    addresses: Mapping[int, _Address],
    given_addresses: Mapping[int, _Address | None],
    match: Integers,
    reason: Integers,
) -> list[int]:
    """Match equal addresses, in order where they repeat; returns entries that match none."""
    places, given_places = _grouped(addresses), _grouped(given_addresses)
    for address, entries in places.items():
        given = given_places.pop(address, [])
        if len(given) == len(entries):
            match[entries] = given
        elif given:
            single = len(entries) == 1
            reason[entries] = REASON_CODES[Reason.DUPLICATE if single else Reason.AMBIGUOUS]
    return sorted(entry for entries in given_places.values() for entry in entries)


def _grouped(addresses: Mapping[int, _Address | None]) -> dict[Hashable, list[int]]:
    groups: dict[Hashable, list[int]] = defaultdict(list)
    for entry, address in addresses.items():
        groups[address].append(entry)
    return groups


def _match_by_estimate(
    published: PublishedColumns,
    reproduced: ReproducedColumns,
    ours: Integers,
    waiting: Sequence[int],
    match: Integers,
    reason: Integers,
) -> None:
    """Match standard errors and the like through the estimate that they belong to."""
    estimate_with_key = {
        _key_of(reproduced, int(match[entry])): entry
        for entry in ours.tolist()
        if match[entry] != UNKNOWN
    }
    candidates: dict[tuple[int, int], list[int]] = defaultdict(list)
    for entry in waiting:
        of = (
            int(reproduced.of_row[entry]),
            int(reproduced.of_col[entry]),
            int(reproduced.of_part[entry]),
        )
        if of in estimate_with_key:
            candidates[estimate_with_key[of], int(reproduced.metric[entry])].append(entry)
    for entry in ours.tolist():
        estimate = int(published.estimate[entry])
        given = candidates.get((estimate, int(published.metric[entry])), [])
        if estimate == entry or match[entry] != UNKNOWN or not given:
            continue
        if len(given) == 1:
            match[entry], reason[entry] = given[0], OK
        else:
            reason[entry] = REASON_CODES[Reason.AMBIGUOUS]
