"""Proof that a template holds no result of its table, and that the proof would see one.

`results_found` looks at the serialised template with rules of its own: it shares no code with the
package beyond the records. Tables are built around results, and the results are planted in every
text of the table in every printing that a paper might use.
"""

import re
import string
import unicodedata
from dataclasses import replace
from decimal import ROUND_DOWN, ROUND_HALF_UP, Decimal
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import data
import extract.blinding
from data.records.errors import RecordError
from data.records.files import (
    record_from_json,
    record_from_values,
    record_to_json,
    record_to_values,
)
from data.records.metrics import UNGRADED_METRICS, Metric
from data.records.tables import (
    Cell,
    CellKey,
    HeaderSpan,
    Panel,
    Row,
    StarLevel,
    Table,
    TruthKind,
)
from extract import blind, result_leaks
from extract.blinding import MASK

# ------------------------------------------------------------------ the proof

PLACES = {"row", "col", "part", "index", "first", "last", "n_columns", "schema_version", "p_below"}
GRADED_FIELDS = ("text", "value", "decimals", "stars")


def texts_and_numbers(values, place=""):
    """Every string and every number of plain values, with its place."""
    if isinstance(values, dict):
        for key, value in values.items():
            yield from texts_and_numbers(value, f"{place}/{key}")
    elif isinstance(values, list):
        for index, value in enumerate(values):
            yield from texts_and_numbers(value, f"{place}/{index}")
    elif values is not None and not isinstance(values, bool):
        yield place, values


def results_found(template, published):
    """What a template still tells of its table's results; empty where it tells nothing."""
    values = record_to_values(template)
    found = []
    for number, cell in enumerate(values["cells"]):
        if cell["metric"] in UNGRADED_METRICS:
            cell["text"] = cell["value"] = cell["decimals"] = cell["stars"] = None
        found += [f"cell {number} {name}" for name in GRADED_FIELDS if cell[name] is not None]
    results = [
        (Decimal(f"{abs(cell.value):.{cell.decimals}f}"), cell.decimals)
        for cell in published.graded_cells
        if cell.value is not None
    ]
    patterns = {pattern for result in results for pattern in patterns_of(*result)}
    told = {}
    for place, value in texts_and_numbers(values):
        if isinstance(value, int | float):
            key = place.rsplit("/", 1)[1]
            if key not in PLACES and "/of/" not in place:
                found.append(f"{place} {value}")
            continue
        if place in NAMES:
            value = without_own_number(value, values["number"])
        if value not in told:
            told[value] = told_by(plainly(value, published.n_columns), patterns)
        found += [f"{place} {value!r} {what}" for what in told[value]]
    return found


NAMES = {"/id", "/slug", "/number", "/paper_id"}


def without_own_number(name, number):
    """A name without the table's number, a year at its end, and digits that are one or two."""
    number = number if number and len(number) < 6 else "\0"
    for own in (number, number.replace(".", "_")):
        name = re.sub(rf"(?<![0-9]){re.escape(own)}(?![0-9])", "", name)
    return re.sub(r"_\d{4}$", "", name)


def told_by(plain, patterns):
    """What a plain text tells of the results."""
    if not any(character.isdigit() or character == MASK for character in plain):
        return []
    told = [body for body, pattern in patterns if body in plain and re.search(pattern, plain)]
    return told + (["stars"] if re.search(rf"{MASK}[)\]}}%\s]{{0,3}}[*†‡]", plain) else [])


def plainly(text, n_columns):
    """Text in plain digits, points and signs; column numbers left out."""
    text = "".join(c for c in text if c not in "⁰¹²³⁴⁵⁶⁷⁸⁹" and unicodedata.category(c) != "Cf")
    text = unicodedata.normalize("NFKC", text.replace("٫", ".").replace("٬", ","))
    text = "".join(str(unicodedata.decimal(c)) if c.isdecimal() else c for c in text)
    text = text.translate(str.maketrans(dict.fromkeys("∗⁎★✱", "*")))
    return re.sub(r"\((\d{1,3})\)", lambda m: "" if 1 <= int(m[1]) <= n_columns else m[0], text)


def patterns_of(value, decimals):
    """Printings of a result, or of what it rounds to, and expressions that find them."""
    if value == 0 and decimals < 2:
        return
    for number, places in [(value, decimals), *shorter(value, decimals)]:
        for body in bodies(number, places):
            is_name = "." not in body and len(re.findall(r"\d", body)) < 3
            edge = (r"(?<!\w)", r"(?!\w)") if is_name else (r"(?<!\d)", r"(?!\d)")
            # A group of digits within a longer number is another number.
            yield body, rf"(?<!\d[.,'’· ]){edge[0]}{re.escape(body)}{edge[1]}(?![.,·]\d)"
    share = value * 100
    if decimals >= 3 and n_digits(share, decimals - 2) >= 2:
        body = f"{share:.{decimals - 2}f}"
        yield body, rf"(?<![\d.,]){re.escape(body)}\s?(?:%|percent|per cent)"


def n_digits(value, places):
    return len(str(int(value.scaleb(places))).strip("0"))


def shorter(value, decimals):
    """The result with fewer decimals, as long as what is left still tells it."""
    for places in range(decimals):
        for rounding in (ROUND_HALF_UP, ROUND_DOWN):
            short = value.quantize(Decimal(1).scaleb(-places), rounding)
            if n_digits(short, places) >= (2 if places else 3):
                yield short, places


def bodies(value, places):
    """Printings of a number without its sign."""
    fixed = f"{value:.{places}f}"
    grouped = f"{value:,.{places}f}"
    for body in {fixed, grouped, grouped.replace(",", " "), grouped.replace(",", "'")}:
        yield body
        if body.startswith("0.") and value:
            yield body[1:]
        yield body.replace(".", "·")
    yield grouped.translate(str.maketrans(",.", ".,"))
    yield fixed.replace(".", ",")


# ------------------------------------------------------------------ printings that are planted


def fixed(value, decimals):
    return f"{abs(value):.{decimals}f}"


def coarse(value, decimals):
    """The result with fewer digits, where that still tells it; else as it is."""
    short = list(shorter(Decimal(fixed(value, decimals)), decimals))
    return f"{short[0][0]:.{short[0][1]}f}" if short else fixed(value, decimals)


def percent(value, decimals):
    share = Decimal(fixed(value, decimals)) * 100
    if decimals < 3 or n_digits(share, decimals - 2) < 2:
        return fixed(value, decimals)
    return f"{share:.{decimals - 2}f}%"


def translated(digits):
    return lambda v, d: fixed(v, d).translate(str.maketrans(string.digits, digits))


STYLES = {
    "fixed": fixed,
    "no leading zero": lambda v, d: fixed(v, d).removeprefix("0") if d and v else fixed(v, d),
    "grouped": lambda v, d: f"{abs(v):,.{d}f}",
    "spaced": lambda v, d: f"{abs(v):,.{d}f}".replace(",", "\u2009"),
    "apostrophes": lambda v, d: f"{abs(v):,.{d}f}".replace(",", "’"),
    "decimal comma": lambda v, d: fixed(v, d).replace(".", ","),
    "both marks": lambda v, d: f"{abs(v):,.{d}f}".translate(str.maketrans(",.", ".,")),
    "raised point": lambda v, d: fixed(v, d).replace(".", "·"),
    "hyphen": lambda v, d: "-" + fixed(v, d),
    "minus sign": lambda v, d: "−" + fixed(v, d),
    "en dash": lambda v, d: "–" + fixed(v, d),
    "fullwidth": translated("０１２３４５６７８９"),
    "Arabic": translated("٠١٢٣٤٥٦٧٨٩"),
    "zero-width": lambda v, d: "\u200b".join(fixed(v, d)),
    "stars": lambda v, d: fixed(v, d) + "***",
    "raised stars": lambda v, d: fixed(v, d) + "∗∗",
    "dagger": lambda v, d: fixed(v, d) + "†",
    "parentheses": lambda v, d: f"({fixed(v, d)})**" if d else f"N={fixed(v, d)}",
    "brackets": lambda v, d: f"[{fixed(v, d)}, {fixed(v, d)}]" if d else f"[N: {fixed(v, d)}]",
    "unspaced list": lambda v, d: f"[{fixed(v, d)};{fixed(v, d)}]",
    "percent": percent,
    "fewer digits": coarse,
    "sentence end": lambda v, d: fixed(v, d) + ".",
    "equals": lambda v, d: f"b={fixed(v, d)},",
}
WITHIN_WORDS = {
    "word before": lambda v, d: f"coef{fixed(v, d)}",
    "word behind": lambda v, d: f"{fixed(v, d)}pts",
    "word around": lambda v, d: f"R{fixed(v, d)}x",
    "underscores": lambda v, d: f"eff_{fixed(v, d)}_se",
}
PROSE = [
    "", "Treatment ", "Panel A: ", "log income ", "(1) ", "R² ", "OLS, ", "2SLS ", "— ", "; * p<",
    "é▢ ", "women; ", "fixed effects\n", "% of ", "$ ", "“men” ", "N ",
]  # fmt: skip


@st.composite
def results(draw):
    decimals = draw(st.integers(0, 5))
    digits = draw(st.one_of(st.integers(0, 200), st.integers(0, 10**7)))
    value = float(Decimal(digits).scaleb(-decimals))
    sign = draw(st.sampled_from([1, -1]))
    return sign * value, decimals


@st.composite
def texts(draw, planted):
    """Prose with results planted in it."""
    pieces = []
    for _ in range(draw(st.integers(0, 3))):
        pieces.append(draw(st.sampled_from(PROSE)))
        if planted and draw(st.booleans()):
            value, decimals = draw(st.sampled_from(planted))
            style = draw(st.sampled_from(list(STYLES) + list(WITHIN_WORDS)))
            if style in WITHIN_WORDS:
                body = fixed(value, decimals)
                is_long = "." in body or len(body) > 2
                printed = WITHIN_WORDS[style if is_long else "word before"](value, decimals)
            else:
                printed = STYLES[style](value, decimals)
            pieces.append(f" {printed} ")
    return "".join([*pieces, draw(st.sampled_from(PROSE))])


GRADED = sorted(set(Metric) - UNGRADED_METRICS)
SETTING_TEXTS = ["Yes", "No", "✓", "0.275", "Optimal", "11", "2,435", None]


@st.composite
def tables(draw):
    """A published table with results planted in all its texts."""
    planted = draw(st.lists(results(), max_size=5))
    text = texts(planted)
    n_columns = draw(st.integers(1, 4))
    cells = []
    for index, (value, decimals) in enumerate(planted):
        printed = draw(st.sampled_from(["{}", "({})", "{}***", "[{}]**"]))
        cells.append(
            Cell(
                row=index // n_columns,
                col=index % n_columns,
                metric=draw(st.sampled_from(GRADED)),
                row_label=draw(text),
                col_labels=tuple(draw(st.lists(text, max_size=2))),
                panel=draw(st.none() | text),
                text=draw(st.none() | st.just(printed.format(f"{value:,.{decimals}f}"))),
                value=value,
                decimals=decimals,
                stars=draw(st.none() | st.integers(0, 3)),
                of=draw(st.none() | st.just(CellKey(0, 0))),
                unit=draw(st.sampled_from([None, "percent", "$"])),
                truth_kind=draw(st.none() | st.sampled_from(TruthKind)),
            )
        )
    last = 1 + len(planted) // n_columns
    for col in range(n_columns):
        printed = draw(st.sampled_from(SETTING_TEXTS))
        metric = draw(st.sampled_from(sorted(UNGRADED_METRICS)))
        cells.append(Cell(last, col, metric, row_label=draw(text), text=printed))
    return Table(
        id="Table 8.3",
        slug="table_8_3",
        cells=tuple(cells),
        paper_id="author_2004",
        number="8.3",
        caption=draw(text),
        truth_kind=draw(st.none() | st.sampled_from(TruthKind)),
        header=(tuple(HeaderSpan(draw(text), col, col) for col in range(n_columns)),),
        rows=tuple(Row(row, draw(text), draw(st.none() | text)) for row in range(last + 1)),
        panels=(Panel(draw(text), 0, last),),
        n_columns=n_columns,
        notes=draw(text),
        star_levels=(StarLevel("***", 0.01), StarLevel("*", 0.1)),
        rounding=draw(st.sampled_from(["half_away", "truncate"])),
        source_pages=(275,),
        source_boxes=((0.0, 0.275, 1.0, 2.0),),
    )


# ------------------------------------------------------------------ properties


@settings(max_examples=300, deadline=None)
@given(tables())
def test_a_template_holds_no_result(published):
    template = blind(published)
    assert results_found(template, published) == []
    assert result_leaks(template, published) == ()


@settings(deadline=None)
@given(tables())
def test_a_template_keeps_shape_links_and_inputs(published):
    template = blind(published)
    assert template.role == "template"
    assert len(template.cells) == len(published.cells)
    for before, after in zip(published.cells, template.cells, strict=True):
        assert (after.key, after.metric, after.of) == (before.key, before.metric, before.of)
        assert len(after.col_labels) == len(before.col_labels)
        assert (after.panel is None, after.unit) == (before.panel is None, before.unit)
        if before.metric in UNGRADED_METRICS:
            assert (after.text, after.value) == (before.text, before.value)
        else:
            assert [getattr(after, name) for name in GRADED_FIELDS] == [None] * 4
    assert [(row.index, row.panel is None) for row in template.rows] == [
        (row.index, row.panel is None) for row in published.rows
    ]
    assert [(p.first, p.last) for p in template.panels] == [
        (p.first, p.last) for p in published.panels
    ]
    for name in ("id", "slug", "number", "paper_id", "kind", "n_columns", "star_levels"):
        assert getattr(template, name) == getattr(published, name)


@settings(deadline=None)
@given(tables())
def test_blinding_twice_changes_nothing(published):
    template = blind(published)
    assert blind(template) == template
    assert record_from_json(Table, record_to_json(template), where="here") == template


@settings(deadline=None)
@given(tables())
def test_what_is_masked_is_a_number_with_its_marks(published):
    """Between the masks every text is as it was: no word is lost, and no other sign."""
    template = record_to_values(blind(published))
    for place, text in texts_and_numbers(record_to_values(replace(published, source_pages=()))):
        kept = template
        for key in place.strip("/").split("/"):
            is_gone = kept is None or (isinstance(kept, list) and int(key) >= len(kept))
            kept = None if is_gone else kept[int(key) if isinstance(kept, list) else key]
        if isinstance(text, str) and isinstance(kept, str) and place not in {"/role", "/rounding"}:
            assert words(kept) == words(text)


def words(text):
    return re.findall(r"[^\W\d_]+", unicodedata.normalize("NFKC", text.replace("\u200b", "")))


NEAR = [
    "0.301", "0.25", ".14", "1987", "12,345", "18-65", "p<0.05", "10%", "1.96", "re74", "educ12",
    "0.3", "99", "5-point", "(1)", "R²", "Table 8.3", "0/1", "1,000 draws", "8:30",
]  # fmt: skip


def table_of(*printed, n_columns=3, **texts):
    """A column of coefficients as printed, each a text, and other texts."""
    cells = []
    for row, text in enumerate(printed):
        digits = text.replace(",", "").strip("()*")
        decimals = len(digits.partition(".")[2])
        cells.append(
            Cell(row, 0, Metric.COEFFICIENT, text=text, value=float(digits), decimals=decimals)
        )
    return Table(
        id="Table 2", slug="table_2", number="2", cells=tuple(cells), n_columns=n_columns, **texts
    )


@pytest.mark.parametrize("text", NEAR)
def test_other_numbers_stay(text):
    published = table_of("0.352***", "(0.118)", "2,718", "-41.7", notes=f"Of {text} in all")
    assert blind(published).notes == published.notes


@pytest.mark.parametrize(
    ("text", "blinded"),
    [
        ("gives 0.275*** here", "gives ▢ here"),
        ("(.275)***, n.s.", "(▢), n.s."),
        ("0.275 * * *; p", "▢ ; p"),
        ("a fall of −.275†", "a fall of ▢"),
        ("rises by 27.5%", "rises by ▢%"),
        ("rises by 27.5 per cent", "rises by ▢ per cent"),
        ("about 0.28", "about ▢"),
        ("cut to 0.27", "cut to ▢"),
        ("exactly 0.27512", "exactly ▢"),
        ("about 0.3", "about 0.3"),
        ("R0.275x and R²", "R▢x and R²"),
        ("age–0.275", "age▢"),
        ("2435resumes", "▢resumes"),
        ("all 2,435 of them", "all ▢ of them"),
        ("all 2 435 of them", "all ▢ of them"),
        ("2.4 thousand", "2.4 thousand"),
        ("2.43 thousand", "▢ thousand"),
        ("0.275,0.118", "▢,0.118"),
        ("[0.1,0.275]", "[0.1,▢]"),
        ("in 74 297 men", "in 74 ▢ men"),
        ("1,297 firms", "1,297 firms"),
        ("297,2435", "▢"),
        ("2.75×10⁻¹ or 2.75e-01", "▢ or ▢"),
        ("0.\u00ad275", "▢"),
        ("ages 8 to 64", "ages ▢ to 64"),
        ("model (2) and (8)", "model (2) and (▢)"),
        ("grade8", "grade8"),
        ("p = .0000", "p = ▢"),
        ("0/1 and 0.00", "0/1 and 0.00"),
    ],
)
def test_texts_with_results(text, blinded):
    published = table_of("0.275***", "2,435", "297", "8", "0.0000", caption=text)
    template = blind(published)
    assert template.caption == blinded
    assert results_found(template, published) == []


def test_a_share_in_percent_is_found_as_a_share():
    cell = Cell(0, 0, Metric.SHARE, text="9.65", value=9.65, decimals=2, unit="percent")
    published = Table(id="A", slug="a", cells=(cell,), notes="a rate of 0.0965, of 9.65%, of .10")
    assert blind(published).notes == "a rate of ▢, of ▢%, of .10"


def test_numbers_of_a_text_that_holds_several_are_results():
    cell = Cell(0, 0, Metric.COEFFICIENT, text="0.352 (0.118) [2.98]", value=0.352, decimals=3)
    published = Table(id="A", slug="a", cells=(cell,), notes="t of 2.98, error of .118")
    assert blind(published).notes == "t of ▢, error of ▢"


# ------------------------------------------------------------------ names, and the record


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("id", "Table 2 (0.275)"),
        ("id", "Effects of 2435 resumes"),
        ("slug", "table_0_275"),
        ("slug", "n_2435"),
        ("number", "2, N=2,435"),
        ("paper_id", "author_0_275"),
    ],
)
def test_a_name_that_prints_a_result_is_refused(name, value):
    published = replace(table_of("0.275***", "2,435"), **{name: value})
    with pytest.raises(RecordError, match="rename"):
        blind(published)
    template = replace(blind(table_of("0.275***", "2,435")), **{name: value})
    assert len(result_leaks(template, published)) == 1


@pytest.mark.parametrize(
    ("number", "printed"),
    [("8.3", "8.3"), ("2", "2"), ("III", "3"), ("611", "611"), ("A.12", "12")],
)
def test_the_table_s_own_number_is_no_result(number, printed):
    slug = "table_" + re.sub(r"\W", "_", number).lower()
    published = replace(table_of(printed), id=f"Table {number}", slug=slug, number=number)
    published = replace(published, paper_id="author_2004")
    template = blind(published)
    assert (template.id, template.slug, template.number) == (f"Table {number}", slug, number)
    assert result_leaks(template, published) == ()


def test_a_year_in_the_paper_s_name_is_no_result():
    published = replace(table_of("2004"), paper_id="author_2004")
    assert blind(published).paper_id == "author_2004"


FILLED = {"value": 0.275, "text": "0.275", "decimals": 3, "stars": 0}


@pytest.mark.parametrize("field", FILLED)
def test_the_record_refuses_a_template_with_a_result(field):
    template = blind(table_of("0.275"))
    filled = replace(template.cells[0], **{field: FILLED[field]})
    with pytest.raises(ValueError, match=f"holds no result: cell 0,0,0 has {field}"):
        replace(template, cells=(filled,))
    values = record_to_values(template)
    values["cells"][0][field] = FILLED[field]
    with pytest.raises(RecordError, match="holds no result"):
        record_from_values(Table, values, where="a file")
    values["role"] = "reproduced"
    assert record_from_values(Table, values, where="a file").cells[0] == filled


# ------------------------------------------------------------------ the proof can fail


def planted_table():
    """One result in every text, and every printing in the notes."""
    cells = [
        Cell(0, 0, Metric.COEFFICIENT, text="0.275**", value=0.275, decimals=3, stars=2,
             row_label="Beauty, 0.275", col_labels=("All, 0.275",), panel="A, 0.275", unit="0.275"),
        Cell(1, 0, Metric.N_OBS, text="12,435", value=12435.0, decimals=0, stars=0),
        Cell(2, 0, Metric.SETTING, text="0.275"),
    ]  # fmt: skip
    printings = [
        style(value, decimals)
        for style in (*STYLES.values(), *WITHIN_WORDS.values())
        for value, decimals in ((0.275, 3), (12435.0, 0))
    ]
    return Table(
        id="Table 3",
        slug="table_3",
        cells=tuple(cells),
        caption="Beauty raises ratings by 0.275",
        header=((HeaderSpan("0.275", 0, 0),),),
        rows=(Row(0, "Beauty, 0.275", "A, 0.275"), Row(1, "Resumes"), Row(2, "Bandwidth")),
        panels=(Panel("A, 0.275", 0, 2),),
        n_columns=1,
        notes=" and ".join(printings),
        source_pages=(275,),
        source_boxes=((0.275, 0.0, 1.0, 1.0),),
    )


def test_the_planted_table_is_blinded():
    published = planted_table()
    assert results_found(blind(published), published) == []
    assert len(results_found(published, published)) > 20


def in_cell(**names):
    """A broken blinder that keeps fields of the first cell."""

    def broken(template, published):
        kept = {name: getattr(published.cells[0], name) for name in names}
        cell = replace(template.cells[0], **kept)
        role = "published" if set(names) & set(GRADED_FIELDS) else "template"
        return replace(template, role=role, cells=(cell, *template.cells[1:]))

    return broken


def in_table(name):
    """A broken blinder that keeps a field of the table."""
    return lambda template, published: replace(template, **{name: getattr(published, name)})


KEPT_FIELDS = {
    **{name: in_cell(**{name: None}) for name in GRADED_FIELDS},
    **{name: in_cell(**{name: None}) for name in ("row_label", "col_labels", "panel", "unit")},
    **{
        name: in_table(name)
        for name in ("caption", "notes", "header", "rows", "panels", "source_pages", "source_boxes")
    },
}


@pytest.mark.parametrize("name", KEPT_FIELDS)
def test_the_proof_sees_a_kept_field(name):
    published = planted_table()
    broken = KEPT_FIELDS[name](blind(published), published)
    assert results_found(broken, published)
    if not name.startswith("source"):
        assert result_leaks(broken, published)


def with_points_only(token, *, decimal_comma):
    """A reader of tokens that knows no decimal comma."""
    return None if decimal_comma else READING(token, decimal_comma=False)


READING = extract.blinding._reading
NEVER = re.compile(r"(?!)")
BROKEN_PARTS = {
    "exact numbers only": ("_tells", lambda token, result: token.value == result.value),
    "no decimal commas": ("_reading", with_points_only),
    "stars stay": ("_STARS_AFTER", NEVER),
    "percentages are not shares": ("_PERCENT", NEVER),
    "nothing within words": ("_is_long", lambda token: False),
    "characters as printed": ("plain_characters", lambda text: (text, tuple(range(len(text))))),
    "no thousands": ("_CLUSTER", re.compile(r"[0-9]*\.?[0-9]+")),
    "no bare decimals": ("_CLUSTER", re.compile(r"[0-9]+(?:[.,'’· ][0-9]+)*")),
    "results are not read": ("_published_numbers", lambda table: iter(())),
    "whole numbers only": ("_tells", lambda t, r: t.value == r.value == int(r.value)),
}


@pytest.mark.parametrize("name", BROKEN_PARTS)
def test_the_proof_sees_a_broken_blinder(name, monkeypatch):
    attribute, part = BROKEN_PARTS[name]
    monkeypatch.setattr(extract.blinding, attribute, part)
    published = planted_table()
    assert results_found(blind(published), published)


# ------------------------------------------------------------------ the bundled papers

PAPERS = sorted((Path(data.__file__).parent / "papers").glob("*/extracted/templates/*.json"))


def read_table(path):
    return record_from_json(Table, path.read_bytes(), where=path.name)


def test_the_bundled_papers_are_all_here():
    assert len(PAPERS) >= 29
    published = [read_table(path.parents[1] / "tables" / path.name) for path in PAPERS]
    assert sum(len(table.graded_cells) for table in published) > 1000


@pytest.mark.parametrize("path", PAPERS, ids=lambda path: f"{path.parents[2].name}-{path.stem}")
def test_no_bundled_template_holds_a_published_result(path):
    template = read_table(path)
    published = read_table(path.parents[1] / "tables" / path.name)
    assert results_found(template, published) == []
    assert result_leaks(template, published) == ()
    assert blind(published) == template
