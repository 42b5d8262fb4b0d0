"""Looks for published tables in every file that can be read here. Standard library only.

Called as ``python scan.py REQUEST`` in a jail that exists for this alone: REQUEST is a JSON file
of ``sequences`` (each with a ``table``, an ``order`` and its ``values`` as printed, without sign
and leading zero), ``roots``, ``skipped`` and the rule's ``digits``, ``digits_with_gap`` and
``gap``. Prints one JSON object of hits, counts, and what could not be read.

Rule: at least three values that are neighbours in a table's row or column, in that order, with at
least ``digits`` significant digits together; or with up to ``gap`` other numbers between two of
them and at least ``digits_with_gap``. Numbers of fewer than two significant digits count on
neither side, and a number that is repeated at once counts once. A file is read in the
order of its text, and by position in successive lines from the left and from the right.
"""

import bz2
import collections
import io
import json
import lzma
import multiprocessing
import os
import re
import stat
import sys
import zipfile
import zlib
from collections.abc import Iterable, Iterator
from typing import Any

LARGEST = 512 * 1024**2
LARGEST_UNPACKED = 256 * 1024**2
DEEPEST = 3
BATCH = 64
SHOWN_HITS = 200
WIDEST = 64

NUMBER = re.compile(rb"[0-9][0-9,]*(?:\.[0-9]+)?|\.[0-9]+")
LONG_NUMBER = re.compile(rb"[0-9][0-9,]*\.?[0-9]+|\.[0-9]+")
PDF_STREAM = re.compile(rb"stream\r?\n(.*?)endstream", re.DOTALL)
PDF_TEXT = re.compile(
    rb"\[((?:[^\]\\(]|\\.|\((?:[^()\\]|\\.)*\))*)\]\s*TJ|(\((?:[^()\\]|\\.)*\))\s*(?:Tj|'|\")"
)
PDF_PIECE = re.compile(rb"\(((?:[^()\\]|\\.)*)\)|(-?[0-9.]+)")
PDF_SPACE = -180.0

UNREAD_KINDS = (
    (b"\x7fELF", "program"),
    (b"!<arch>", "program"),
    (b"\x89PNG", "picture"),
    (b"\xff\xd8\xff", "picture"),
    (b"GIF8", "picture"),
    (b"\x00\x01\x00\x00\x00", "font"),
    (b"OTTO", "font"),
    (b"wOF", "font"),
    (b"PAR1", "parquet"),
    (b"ARROW1", "arrow"),
    (b"\x28\xb5\x2f\xfd", "zstandard"),
    (b"\x04\x22\x4d\x18", "lz4"),
    (b"7z\xbc\xaf", "7z"),
    (b"Rar!", "rar"),
)


def plain(number: bytes) -> bytes:
    """A printed number without thousands commas, leading zeros and a trailing point."""
    return number.replace(b",", b"").lstrip(b"0") or b"0"


def significant(number: bytes) -> int:
    """Significant digits of a plain number; trailing zeros of an integer do not count."""
    digits = number.replace(b".", b"").lstrip(b"0")
    return len(digits) if b"." in number else len(digits.rstrip(b"0"))


def spellings_of(number: bytes) -> set[bytes]:
    """Ways in which a text may print a plain number: leading zero, thousands commas."""
    whole, point, rest = number.partition(b".")
    grouped = f"{int(whole or b'0'):,}".encode() + point + rest
    return {number, b"0" + number, grouped}


class Truth:
    """The published sequences, indexed by value.

    Numbers of a text are coded: None too few digits, 0 not published, else the value's code.
    """

    def __init__(self, request: dict[str, Any]) -> None:
        self.digits, self.gap = request["digits"], request["gap"]
        self.digits_with_gap = request["digits_with_gap"]
        values = sorted({value for entry in request["sequences"] for value in entry["values"]})
        self.values = ["", *values]
        self.weights = [0, *(significant(value.encode()) for value in values)]
        self.codes = {value.encode(): code for code, value in enumerate(values, 1)}
        self.sequences = [
            (entry["table"], entry["order"], [self.codes[v.encode()] for v in entry["values"]])
            for entry in request["sequences"]
        ]
        self.places: dict[int, list[tuple[int, int]]] = collections.defaultdict(list)
        for which, (_, _, codes) in enumerate(self.sequences):
            for index, code in enumerate(codes):
                self.places[code].append((which, index))
        self.spellings = {s for value in self.codes for s in spellings_of(value)}

    def code(self, raw: bytes) -> int | None:
        """Code of a number as it stands in a text."""
        number = plain(raw)
        found = self.codes.get(number, 0)
        return found if found or significant(number) >= 2 else None

    def runs(self, codes: Iterable[int | None]) -> Iterator[tuple[int, tuple[int, ...]]]:
        """Sequences that the numbers follow for long enough, with the codes that agree."""
        recent: collections.deque[Any] = collections.deque()
        last, position = None, 0
        for code in codes:
            if code is None or (code == last and code):
                continue
            last = code
            position += 1
            if not code:
                continue
            while recent and recent[0][0] < position - self.gap - 1:
                recent.popleft()
            state: dict[tuple[int, int], tuple[tuple[int, ...], bool]] = {}
            for which, index in self.places[code]:
                run, gapped = self._longest(recent, (which, index - 1), position)
                run = (*run, code)
                state[which, index] = (run, gapped)
                needed = self.digits_with_gap if gapped else self.digits
                if len(run) >= 3 and sum(self.weights[c] for c in run) >= needed:
                    yield which, run
            recent.append((position, state))

    def _longest(
        self, recent: Iterable[Any], place: tuple[int, int], position: int
    ) -> tuple[tuple[int, ...], bool]:
        """Longest run that ends at a place of a sequence, and whether it has gaps."""
        best: tuple[tuple[int, ...], bool] = ((), False)
        for where, state in recent:
            before = state.get(place)
            if before is not None and len(before[0]) >= len(best[0]):
                best = (before[0], before[1] or where != position - 1)
        return best

    def could_hold(self, present: set[int]) -> bool:
        """Whether three neighbours of some sequence are all among the values present."""
        if len(present) < 3:
            return False
        for _, _, codes in self.sequences:
            run = 0
            for code in codes:
                run = run + 1 if code in present else 0
                if run == 3:
                    return True
        return False

    def find(self, content: bytes) -> Iterator[tuple[int, tuple[int, ...]]]:
        """Runs in a text, in reading order and down its columns."""
        numbers = self.spellings.intersection(LONG_NUMBER.findall(content))
        if not self.could_hold({self.codes[plain(raw)] for raw in numbers}):
            return
        known: dict[bytes, int | None] = {}
        lines = []
        for line in content.splitlines():
            found = NUMBER.findall(line)
            for raw in found:
                if raw not in known:
                    known[raw] = self.code(raw)
            if found:
                lines.append([known[raw] for raw in found])
        yield from self.runs(code for line in lines for code in line)
        columns: dict[int, list[int | None]] = collections.defaultdict(list)
        for codes in lines:
            for place, code in enumerate(codes[:WIDEST]):
                columns[place].append(code)
            for place, code in enumerate(reversed(codes[-WIDEST:])):
                columns[-1 - place].append(code)
        for column in columns.values():
            if sum(1 for code in column if code) >= 3:
                yield from self.runs(column)


def inflate(content: bytes) -> bytes:
    """Inflated bytes as far as they go; empty where there are none."""
    try:
        return zlib.decompressobj().decompress(content, LARGEST_UNPACKED)
    except zlib.error:
        return b""


def pdf_line(array: bytes) -> bytes:
    """Text of one text-showing operator: pieces joined, wide gaps as spaces."""
    words = []
    for piece, shift in PDF_PIECE.findall(array):
        if shift:
            try:
                wide = float(shift) < PDF_SPACE
            except ValueError:
                wide = False
            words.append(b" " if wide else b"")
        else:
            words.append(piece.replace(b"\\(", b"(").replace(b"\\)", b")"))
    return b"".join(words)


def pdf_text(content: bytes) -> bytes:
    """Text of a PDF whose fonts code digits as such; one line an operator."""
    lines = []
    for packed in PDF_STREAM.findall(content):
        stream = inflate(packed) or packed
        lines += [pdf_line(array or word) for array, word in PDF_TEXT.findall(stream)]
    return b"\n".join(lines)


def unzip(content: bytes) -> Iterator[bytes]:
    """Members of a zip file, each up to the cap; those that cannot be read are left out."""
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            for name in archive.namelist():
                try:
                    with archive.open(name) as member:
                        yield member.read(LARGEST_UNPACKED)
                except (OSError, RuntimeError, NotImplementedError, zipfile.BadZipFile, zlib.error):
                    continue
    except (zipfile.BadZipFile, OSError):
        return


def unpack(content: bytes) -> Iterator[bytes]:
    """What lies inside packed content; nothing where it is not packed."""
    try:
        if content.startswith(b"\x1f\x8b"):
            yield zlib.decompressobj(wbits=31).decompress(content, LARGEST_UNPACKED)
        elif content.startswith(b"BZh"):
            yield bz2.BZ2Decompressor().decompress(content, LARGEST_UNPACKED)
        elif content.startswith(b"\xfd7zXZ"):
            yield lzma.LZMADecompressor().decompress(content, LARGEST_UNPACKED)
        elif content.startswith(b"PK\x03\x04"):
            yield from unzip(content)
        elif content.startswith(b"%PDF"):
            yield pdf_text(content)
        elif content.startswith((b"\xff\xfe", b"\xfe\xff")):
            yield content.decode("utf-16", "replace").encode()
    except (zlib.error, OSError, lzma.LZMAError, EOFError):
        return


def find_in(truth: Truth, content: bytes, depth: int = 0) -> Iterator[tuple[int, tuple[int, ...]]]:
    """Runs in content and in what is packed in it."""
    yield from truth.find(content)
    if depth < DEEPEST:
        for inner in unpack(content):
            yield from find_in(truth, inner, depth + 1)


def kind_of(content: bytes) -> str | None:
    """Kind of content that holds no text to look at, None where it may."""
    return next((kind for mark, kind in UNREAD_KINDS if content.startswith(mark)), None)


def is_compiled_copy(path: str) -> bool:
    """Whether a file is byte code of a source beside it, which is looked at itself."""
    folder, name = os.path.split(path)
    if not name.endswith(".pyc") or os.path.basename(folder) != "__pycache__":
        return False
    source = name.split(".")[0] + ".py"
    return os.path.exists(os.path.join(os.path.dirname(folder), source))


TRUTH: Truth
"""Set before the workers start; they inherit it by fork."""


def look_at(path: str) -> tuple[list[dict[str, Any]], str | None, int]:
    """Hits in one file, why it was not read, its size."""
    if is_compiled_copy(path):
        return [], "byte code of a source that is read", 0
    try:
        with open(path, "rb") as file:
            size = os.fstat(file.fileno()).st_size
            if size > LARGEST:
                return [], "too large", size
            head = file.read(16)
            kind = kind_of(head)
            if kind:
                return [], kind, size
            content = head + file.read()
    except OSError as error:
        return [], error.strerror or "unreadable", 0
    unread = None
    if content.startswith(b"%PDF") and not any(map(LONG_NUMBER.search, unpack(content))):
        unread = "PDF without readable digits"
    best: dict[str, dict[str, Any]] = {}
    for which, run in find_in(TRUTH, content):
        table, order, _ = TRUTH.sequences[which]
        if table not in best or len(best[table]["values"]) < len(run):
            values = [TRUTH.values[code] for code in run]
            best[table] = {"path": path, "table": table, "order": order, "values": values}
    return list(best.values()), unread, size


def files_under(roots: Iterable[str], skipped: set[str]) -> Iterator[str]:
    """Regular files under the roots, following no link, each file once."""
    seen: set[tuple[int, int]] = set()
    for root in roots:
        for top, folders, names in os.walk(root):
            folders[:] = sorted(f for f in folders if os.path.join(top, f) not in skipped)
            for name in sorted(names):
                path = os.path.join(top, name)
                try:
                    status = os.lstat(path)
                except OSError:
                    continue
                key = (status.st_dev, status.st_ino)
                if stat.S_ISREG(status.st_mode) and key not in seen and path not in skipped:
                    seen.add(key)
                    yield path


def main() -> None:
    """Scan as requested; workers inherit the published values by fork."""
    global TRUTH
    with open(sys.argv[1], encoding="utf-8") as file:
        request = json.load(file)
    TRUTH = Truth(request)
    report: dict[str, Any] = {"hits": [], "files": 0, "bytes": 0, "unread": collections.Counter()}
    paths = files_under(request["roots"], set(request["skipped"]))
    with multiprocessing.get_context("fork").Pool(request["workers"]) as pool:
        for hits, unread, size in pool.imap_unordered(look_at, paths, BATCH):
            report["hits"] += hits[: SHOWN_HITS - len(report["hits"])] if hits else []
            report["files"] += 1
            report["bytes"] += size
            if unread:
                report["unread"][unread] += 1
    json.dump(report, sys.stdout)


if __name__ == "__main__":
    main()
