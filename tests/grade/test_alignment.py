"""Which reproduced cell answers which published one."""

import pytest
from builders import entries, entry, filled, table

from data.records.grades import Alignment, Reason
from grade import grade_table, load_rubric
from grade.alignment import _closest, normal_label

KOHLER, PRINTED = load_rubric("kohler2026"), load_rubric("printed")


def published():
    rows = []
    for row, label in enumerate(("Years of schooling", "Experience", "Union member")):
        for col in range(2):
            rows.append((2 * row, col, "coefficient", f"{row + 1}.{col}0", {"label": label}))
            rows.append(
                (
                    2 * row + 1,
                    col,
                    "standard_error",
                    f"0.{row + 1}{col}",
                    {"label": label, "of": (2 * row, col, 0)},
                )
            )
    return table(rows)


def right(pub):
    return entries(pub, {tuple(cell.key): cell.value for cell in pub.cells})


def letters(pub, cells, rubric):
    graded = grade_table(pub, filled(pub, cells=cells), rubric)
    rule = rubric.headline[0]
    return graded, [cell.grades[rule].grade for cell in graded.cells]


def test_labels_that_agree_go_by_key():
    pub = published()
    for rubric in (KOHLER, PRINTED):
        graded, got = letters(pub, right(pub), rubric)
        assert graded.aligned_by == "key"
        assert set(got) == {"A"}


def test_shifted_rows_are_found_by_label_only_under_labels():
    pub = published()
    cells = [cell | {"row": cell["row"] + 2, "of": None} for cell in right(pub)]
    graded, got = letters(pub, cells, PRINTED)
    assert graded.aligned_by == "labels"
    assert set(got) == {"A"}
    graded, got = letters(pub, cells, KOHLER)
    assert graded.aligned_by == "key"
    assert "F" in got
    assert len(graded.extra_cells) == 4


def test_an_exact_label_at_a_wrong_key_wins():
    pub = published()
    cells = right(pub)
    for cell in cells:
        if cell["row"] in {0, 2} and cell["metric"] == "coefficient":
            cell["row"] = 2 - cell["row"]
    _, got = letters(pub, cells, PRINTED)
    assert set(got) == {"A"}


@pytest.mark.parametrize(
    ("label", "matched"),
    [
        ("years  of SCHOOLING:", True),
        ("Years of schoolin", True),
        ("Years of scho", False),
        ("Schooling", False),
    ],
)
def test_similar_labels(label, matched):
    pub = published()
    cells = right(pub)
    for cell in cells:
        if cell["row"] < 2:
            cell["row_label"] = label
    graded, got = letters(pub, cells, PRINTED)
    assert got.count("F") == (0 if matched else 4)
    if not matched:
        assert {c.reason for c in graded.cells if c.row < 2} == {Reason.MISSING}


def test_similarity_and_margin_at_their_limits():
    rule = Alignment("labels")
    # Ratio of 9 equal letters out of 10 and 10: 1 - 2/20 = .9 by insertions and deletions.
    assert _closest(rule, "abcdefghix", ["abcdefghij"]) == "abcdefghij"
    # 8 of 9 and 9: 1 - 2/18 = .889.
    assert _closest(rule, "abcdefghx", ["abcdefghi"]) is None
    # .9 and .8: exactly .10 above the second; .9 and .85 is too close.
    assert _closest(rule, "abcdefghix", ["abcdefghij", "abcdefghzy"]) == "abcdefghij"
    assert _closest(rule, "abcdefghix", ["abcdefghij", "abcdefghiz"]) is None
    assert _closest(rule, "", ["", "a"]) is None


def repeated(labels, shift=0):
    pub = table(
        [
            (row, 0, "coefficient", f"{row + 1}.00", {"label": label})
            for row, label in enumerate(labels)
        ]
    )
    cells = [cell | {"row": cell["row"] + shift} for cell in right(pub)]
    return pub, cells


def test_repeated_labels_go_by_order_when_their_counts_are_equal():
    pub, cells = repeated(["Constant", "Age", "Constant"], shift=5)
    _, got = letters(pub, cells, PRINTED)
    assert got == ["A", "A", "A"]
    pub, cells = repeated(["Age", "Constant", "Constant"], shift=1)
    graded, got = letters(pub, cells, PRINTED)
    assert got == ["A", "A", "A"]
    graded, got = letters(pub, cells[:2], PRINTED)
    assert got == ["A", "F", "F"]
    assert [cell.reason.value for cell in graded.cells] == ["ok", "ambiguous", "ambiguous"]


def test_panels_keep_equal_labels_apart():
    pub = table(
        [
            (0, 0, "coefficient", "1.00", {"label": "Treated", "panel": "A"}),
            (1, 0, "coefficient", "2.00", {"label": "Treated", "panel": "B"}),
        ]
    )
    cells = right(pub)
    cells[0]["row"], cells[1]["row"] = 1, 0
    assert letters(pub, cells, PRINTED)[1] == ["A", "A"]
    assert letters(pub, cells[:1], PRINTED)[1] == ["A", "F"]
    for cell in cells:
        cell["panel"] = None
        cell["row"] += 7
    # Panels unsaid: by order of the keys, whatever that of the file. 2.00 then stands first.
    assert letters(pub, cells, PRINTED)[1] == ["E", "D"]  # .995/1 = .995; (2-.005-1)/2 = .4975
    assert letters(pub, cells[::-1], PRINTED)[1] == ["E", "D"]


def test_an_error_follows_its_estimate():
    pub = published()
    cells = right(pub)
    for cell in cells:
        if cell["metric"] == "standard_error":
            cell["row_label"] = ""
            cell["row"] += 40
    graded, got = letters(pub, cells, PRINTED)
    assert set(got) == {"A"}
    assert not graded.extra_cells


def test_values_never_align():
    pub = published()
    cells = right(pub)
    for cell in cells:
        cell["row_label"] = "Something else"
    assert set(letters(pub, cells, PRINTED)[1]) == {"F"}


def test_a_cell_given_twice_is_a_duplicate():
    pub = published()
    cells = right(pub)
    for rubric in (KOHLER, PRINTED):
        graded, got = letters(pub, [*cells, dict(cells[0])], rubric)
        assert got.count("F") == 1
        assert graded.cells[0].reason is Reason.DUPLICATE
        assert not graded.extra_cells


def test_extra_cells_are_listed_not_graded():
    pub = published()
    extra = entry(pub.cells[0], 9.0) | {"row": 50, "row_label": "Bonus"}
    graded, got = letters(pub, [*right(pub), extra], KOHLER)
    assert set(got) == {"A"}
    assert graded.extra_cells == ("(50, 0, 0) Bonus",)


def test_cells_without_a_key_go_by_label_under_both():
    pub = published()
    cells = [
        {k: v for k, v in cell.items() if k not in {"row", "col", "of"}} for cell in right(pub)
    ]
    for rubric in (KOHLER, PRINTED):
        assert set(letters(pub, cells, rubric)[1]) == {"A"}


def test_settings_take_part_in_alignment_and_are_never_graded():
    pub = table([(0, 0, "setting", "Yes", {"label": "FE"}), (1, 0, "coefficient", "1.00", {})])
    graded, got = letters(pub, right(pub), PRINTED)
    assert got == ["A"]
    assert not graded.extra_cells


def test_normal_labels():
    assert normal_label("  Log\u00a0Wage \u2013 1990: ") == "log wage - 1990"
