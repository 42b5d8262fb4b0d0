"""Which file answers which table; what is wrong with a file is said and never dropped."""

import json

import pytest
from builders import entries, table

from data.records.grades import Reason
from grade import load_rubric
from grade.workspace import WorkspaceFile, grade_workspace, read_workspace, slug_of_name

KOHLER = load_rubric("kohler2026")
ONE = table([(0, 0, "coefficient", "1.00", {})], slug="table_1", table_id="Table 1")
TWO = table([(0, 0, "coefficient", "2.00", {})], slug="table_8_3", table_id="Table 8.3")


def body(published, **more):
    return {"cells": entries(published, {(0, 0, 0): published.cells[0].value})} | more


def file(name, values=None, content=None, problem=None):
    if values is not None:
        content = json.dumps(values).encode()
    return WorkspaceFile(name, content, problem)


def reasons(*files):
    """Reason of the only cell of either table, and the problems of the workspace."""
    grades = grade_workspace(files, [ONE, TWO], [KOHLER])
    paper = grades.papers[0]
    assert [entry.table for entry in paper.tables] == ["table_1", "table_8_3"]
    for entry in paper.tables:
        letter = "A" if entry.cells[0].reason is Reason.OK else "F"
        assert {grade.grade for grade in entry.grades} == {letter}
    return [entry.cells[0].reason.value for entry in paper.tables], grades


@pytest.mark.parametrize(
    ("name", "slug"),
    [
        ("table_8_3.json", "table_8_3"),
        ("Table 8.3.json", "table_8_3"),
        ("TABLE-8-3.csv", "table_8_3"),
        ("table_1.JSON", "table_1"),
        ("table_11.json", None),
        ("table_1_old.json", None),
    ],
)
def test_names(name, slug):
    assert slug_of_name(name, ["table_1", "table_8_3"]) == slug


def test_by_name_by_id_and_by_slug():
    good = [
        (file("table_1.json", body(ONE)), file("table_8_3.json", body(TWO))),
        (file("a.json", body(ONE, id="Table 1")), file("b.json", body(TWO, slug="table_8_3"))),
        (file("a.json", body(ONE, id=" TABLE  1")), file("table_8_3.csv", content=b",(1)\nx,2\n")),
        (
            file("table_8_3.json", body(ONE, id="Table 1")),
            file("x.json", body(TWO, id="table_8_3")),
        ),
    ]
    for files in good:
        assert reasons(*files)[0] == ["ok", "ok"]


def test_the_id_inside_rules_and_the_contradiction_is_told():
    got, grades = reasons(file("table_8_3.json", body(ONE, id="Table 1")))
    assert got == ["ok", "missing"]
    assert grades.sources == {"table_1": "table_8_3.json"}
    assert "says inside that it is 'Table 1'; graded as table_1" in grades.problems[0]


@pytest.mark.parametrize("other", ["table_1.csv", "Table 1.json", "copy.json"])
def test_two_files_that_claim_a_table(other):
    content = b",(1)\nrow 0,1.00\n" if other.endswith(".csv") else None
    values = None if content else body(ONE, id="Table 1")
    got, grades = reasons(file("table_1.json", body(ONE)), file(other, values, content))
    assert got == ["ambiguous", "missing"]
    line = grades.papers[0].tables[0].problems[0]
    assert "table_1.json" in line
    assert other in line


def test_an_unread_file_is_a_claim_too():
    unread = file("table_1.csv", problem="too large")
    assert reasons(unread)[0] == ["unreadable", "missing"]
    assert reasons(unread, file("table_1.json", body(ONE)))[0] == ["ambiguous", "missing"]


def test_a_file_of_another_paper():
    got, grades = reasons(file("table_1.json", body(ONE, id="Table 77")))
    assert got == ["wrong_table", "missing"]
    assert "'Table 77', which is no table of this paper" in grades.papers[0].tables[0].problems[0]
    # A file that does answer the table wins over the one that only bears its name.
    right = file("mine.json", body(ONE, id="Table 1"))
    assert reasons(file("table_1.json", body(ONE, id="Table 77")), right)[0] == ["ok", "missing"]


def test_problems_of_files_that_are_no_table():
    _, grades = reasons(
        file("broken.json", content=b'{"cells": ['),
        file("nameless.json", body(ONE)),
        file("other.json", body(ONE, id="Table 77")),
        file("settings.json", {"seed": 3}),
        file("notes.csv", content=b"a,b\n1,2\n"),
        file("table_1.py", content=b"print(1)"),
        file("scratch.json", problem="a symbolic link, not followed"),
    )
    expected = (
        "'broken.json': truncated",
        "'nameless.json': says nowhere",
        "'other.json': says inside",
        "'scratch.json': a symbolic link",
    )
    assert len(grades.problems) == len(expected)
    for words in expected:
        assert any(words in line for line in grades.problems), words


def test_what_a_file_says_it_is_may_be_anything():
    for word in (7, True, [], {}, "", " ", None, "\ud800", "x" * 10_000):
        got, _ = reasons(file("table_1.json", body(ONE, id=word)))
        assert got[0] in {"ok", "wrong_table"}


def test_no_workspace_file_at_all():
    assert reasons()[0] == ["missing", "missing"]
    assert read_workspace([], [ONE]).tables == {}
