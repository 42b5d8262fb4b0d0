"""What runs write, read: tolerant of spelling, strict about meaning."""

import json
import math

import pytest
from builders import filled, table
from hypothesis import given
from hypothesis import strategies as st

from data.records.grades import Reason
from grade import grade_table, load_rubric
from grade.reading import number_of_text, read_reproduced

ONE = table([(0, 0, "coefficient", "0.12", {"stars": 3})])
PAIR = table(
    [
        (0, 0, "count", "12", {"part": 0}),
        (0, 0, "share", "34", {"part": 1, "unit": "percent"}),
    ]
)

TEXTS = [
    ("0.12***", 0.12),
    ("(0.03)", 0.03),
    ("[0.03]", 0.03),
    ("1,234", 1234),
    ("-0.5", -0.5),
    ("\u22120.5", -0.5),
    ("\u20130.5", -0.5),
    (".5", 0.5),
    ("1.5e-3", 0.0015),
    ("12.5%", 12.5),
    (" 0.12 ", 0.12),
    ("NaN", Reason.NOT_A_NUMBER),
    ("-inf", Reason.NOT_A_NUMBER),
    ("\u2212inf", Reason.NOT_A_NUMBER),
    ("1e400", Reason.NOT_A_NUMBER),
    ("", Reason.NULL),
    ("   ", Reason.NULL),
    ("n.a.", Reason.NULL),
    ("\u2013", Reason.NULL),
    (".", Reason.NULL),
    ("<0.01", Reason.UNREADABLE),
    ("Yes", Reason.UNREADABLE),
    ("see notes", Reason.UNREADABLE),
    ("0.12 (0.03)", Reason.UNREADABLE),
    ("[0.1, 0.2]", Reason.UNREADABLE),
    ("1" * 500, Reason.UNREADABLE),
    ("1_000", Reason.UNREADABLE),
    ("\ud800", Reason.UNREADABLE),
]


@pytest.mark.parametrize(("text", "expected"), TEXTS)
@pytest.mark.parametrize("field", ["text", "value"])
def test_numbers_in_strings(text, expected, field):
    cells = [{"row": 0, "col": 0, field: text}]
    columns = filled(ONE, cells=cells).columns
    if isinstance(expected, Reason):
        assert math.isnan(columns.value[0])
        graded = grade_table(ONE, filled(ONE, cells=cells), load_rubric("kohler2026")).cells[0]
        assert graded.reason is expected
        assert graded.grades["raw"].grade == "F"
    else:
        assert columns.value[0] == expected


@pytest.mark.parametrize("value", [True, [], [0.12], {"a": 1}])
def test_values_that_are_no_numbers(value):
    table = filled(ONE, cells=[{"row": 0, "col": 0, "value": value}])
    assert math.isnan(table.columns.value[0])
    assert len(table.problems) == 1


def test_a_value_wins_over_its_text():
    columns = filled(ONE, cells=[{"row": 0, "col": 0, "value": 0.1234, "text": "0.12**"}]).columns
    assert (columns.value[0], columns.stars[0]) == (0.1234, 2)


def test_two_numbers_in_one_text_are_read_where_the_place_has_two_parts():
    cells = [{"row": 0, "col": 0, "part": part, "text": "12 (34%)"} for part in (0, 1)]
    assert filled(PAIR, cells=cells).columns.value.tolist() == [12, 34]
    assert number_of_text("12 (34%)", 0, (0,))[1] is Reason.UNREADABLE


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "empty"),
        (b'{"id": "Table 1", "cells": [{"row": 0,', "truncated"),
        (b"{nonsense}", "not valid JSON"),
        (b"\x80\x81\xff\x00\x01binary", "UTF-8"),
        (b"[" * 100_000, "nested too deeply"),
        (b'{"cells":' + b"[" * 100_000, "nested too deeply"),
        (b"[]", "top level"),
        (b"3", "top level"),
        (b'{"id": "Table 1"}', "cells"),
        (b'{"cells": {"a": 1}}', "cells"),
        (b'{"cells": []}', "no cell"),
        (b'{"cells": [1, "a", null]}', "no object"),
        (b'{"cells": [], "cells": [{"row": 0}]}', "twice"),
    ],
)
def test_broken_files_give_a_line_and_a_reason(content, words):
    table = read_reproduced(content, name="table_1.json", template=ONE)
    assert table.failure in {Reason.UNREADABLE, Reason.DUPLICATE}
    assert any(words in line for line in table.problems)
    graded = grade_table(ONE, table, load_rubric("printed"))
    assert [cell.grades["interval"].grade for cell in graded.cells] == ["F"]
    assert graded.cells[0].reason is table.failure


def test_numbers_no_float_holds():
    for number in (b"1e400", b"9" * 5000, b"NaN", b"-Infinity"):
        content = b'{"cells": [{"row": 0, "col": 0, "value": ' + number + b"}]}"
        graded = grade_table(
            ONE, read_reproduced(content, name="t.json", template=ONE), load_rubric("printed")
        )
        assert graded.cells[0].reason is Reason.NOT_A_NUMBER


def test_a_name_twice_in_one_cell_is_a_duplicate():
    content = b'{"cells": [{"row": 0, "col": 0, "value": 1, "value": 0.12}]}'
    graded = grade_table(
        ONE, read_reproduced(content, name="t.json", template=ONE), load_rubric("printed")
    )
    assert graded.cells[0].reason is Reason.DUPLICATE


@pytest.mark.parametrize("row", [-1, 1.5, "a", 10**12, True, [0], 1e400])
def test_positions_that_are_none(row):
    table = filled(ONE, cells=[{"row": row, "col": 0, "value": 0.12}])
    assert table.columns.row[0] == -1
    assert table.problems


@pytest.mark.parametrize("row", [0, 0.0, "0", " 0 "])
def test_positions_in_other_spellings(row):
    assert filled(ONE, cells=[{"row": row, "col": 0, "value": 0.12}]).columns.row[0] == 0


def test_many_problems_are_counted_not_listed():
    table = filled(ONE, cells=[{"row": 0, "col": k, "value": "?"} for k in range(50)])
    assert len(table.problems) == 6
    assert "45 more" in table.problems[-1]


CSV_TABLE = table(
    [
        (0, 0, "coefficient", "0.50", {"label": "x"}),
        (0, 1, "coefficient", "0.60", {"label": "x"}),
        (1, 0, "standard_error", "0.10", {"label": "x", "of": (0, 0, 0)}),
        (1, 1, "standard_error", "0.20", {"label": "x", "of": (0, 1, 0)}),
        (2, 0, "n_obs", "420", {"label": "N"}),
        (2, 1, "n_obs", "400", {"label": "N"}),
    ]
)
GRID = ",(1),(2)\nx,0.50,0.60\n,(0.10),(0.20)\nN,420,400\n"
LONG = "row,col,value\n" + "".join(
    f"{cell.row},{cell.col},{cell.value}\n" for cell in CSV_TABLE.cells
)
LABELS = "row_label,col_label,metric,value\n" + "".join(
    f"{cell.row_label},{cell.col_labels[0]},{cell.metric.value},{cell.value}\n"
    for cell in reversed(CSV_TABLE.cells)
)
PARTIAL = "Label,(2)\nx,0.60\nN,400\n"


@pytest.mark.parametrize(
    "text", [GRID, LONG, LABELS, "\ufeff" + GRID], ids=["grid", "long", "labels", "mark"]
)
@pytest.mark.parametrize("rubric", ["kohler2026", "printed"])
def test_csv(text, rubric):
    read = read_reproduced(text.encode(), name="table_1.csv", template=CSV_TABLE)
    graded = grade_table(CSV_TABLE, read, load_rubric(rubric))
    rule = load_rubric(rubric).headline[0]
    assert {cell.grades[rule].grade for cell in graded.cells} == {"A"}, graded.problems


def test_a_csv_of_other_shape_goes_by_labels():
    # Metrics are unsaid, so "x" in column (2) has two places and one number: ambiguous.
    read = read_reproduced(PARTIAL.encode(), name="table_1.csv", template=CSV_TABLE)
    graded = grade_table(CSV_TABLE, read, load_rubric("printed"))
    reasons = [cell.reason.value for cell in graded.cells]
    assert reasons == ["missing", "ambiguous", "missing", "ambiguous", "missing", "ok"]


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "no line"),
        (b"a,b\n", "no line"),
        (b'a,b\n"x,1\n', "not valid CSV"),
        (b"\xff\xfe\x00", "UTF-8"),
        (b"a,b\nx\x00,1\n", "zero"),
        (b",,\n,,\n", "no cell"),
    ],
)
def test_broken_csv(content, words):
    read = read_reproduced(content, name="table_1.csv", template=ONE)
    assert read.failure is Reason.UNREADABLE
    assert words in read.problems[0]


@given(st.binary(max_size=300))
def test_no_bytes_raise(content):
    for name in ("table_1.json", "table_1.csv"):
        grade_table(ONE, read_reproduced(content, name=name, template=ONE), load_rubric("printed"))


JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text(max_size=10),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["row", "col", "part", "value", "text", "metric", "of", "cells", "row_label"]
            ),
            inner,
            max_size=5,
        )
    ),
    max_leaves=12,
)


@given(st.lists(JSON_VALUES, max_size=4))
def test_no_values_raise(cells):
    content = json.dumps({"id": "Table 1", "cells": cells}).encode()
    for rubric in ("printed", "kohler2026"):
        read = read_reproduced(content, name="table_1.json", template=PAIR)
        graded = grade_table(PAIR, read, load_rubric(rubric))
        assert len(graded.cells) == 2


def star_grade(text, stars=3, given=None):
    published = table(
        [(0, 0, "coefficient", "0.12", {"stars": stars}), (1, 0, "mean", "1", {"stars": 0})]
    )
    cells = [
        {"row": 0, "col": 0, "value": 0.12, "text": text, "stars": given},
        {"row": 1, "col": 0, "text": "1"},
    ]
    graded = grade_table(published, filled(published, cells=cells), load_rubric("printed"))
    return [cell.stars_agree for cell in graded.cells]


def test_stars():
    assert star_grade("0.12***") == [True, True]
    assert star_grade("0.12**") == [False, True]
    assert star_grade("0.12") == [None, None]  # the run gave none at all
    assert star_grade("0.12***", stars=None) == [None, True]
    assert star_grade("0.12", given=3) == [True, True]  # stated apart from the text


def test_reading_what_was_written_changes_nothing():
    from data.records.grades import GradeFile, grade_file_from_json, grade_file_to_json
    from grade import grade_paper

    paper = grade_paper(
        [ONE, CSV_TABLE.__class__("Table 2", "table_2", CSV_TABLE.cells)],
        {"table_1": filled(ONE, cells=[{"row": 0, "col": 0, "text": "\u0000 0.1\ud800"}])},
        load_rubric("kohler2026"),
    )
    file = GradeFile("paper", (paper,))
    written = grade_file_to_json(file)
    assert grade_file_from_json(written, where="grade.json") == file
    assert grade_file_to_json(grade_file_from_json(written, where="grade.json")) == written
