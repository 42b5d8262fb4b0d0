"""The report in a real browser: details on hover and focus, no error, light, dark and narrow."""

from __future__ import annotations

import importlib.util
import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

import pytest

from bench.report.site import write_report
from data.records.runs import Arm
from data.store.build import build_store

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = pytest.mark.browser

FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


def _load(name: str) -> ModuleType:
    if name in sys.modules:
        return sys.modules[name]
    path = Path(__file__).parents[1] / f"{name}.py"
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


made = _load("made_runs")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    runs = tmp_path_factory.mktemp("browser") / "small"
    runs.mkdir()
    papers = [made.published_paper("paper_a", title=made.HOSTILE), made.published_paper("paper_b")]
    for paper in papers:
        made.write_run(runs, paper, Arm("exact", "program"), made.exact)
        notes = {"notes.md": made.HOSTILE.encode()}
        made.write_run(
            runs,
            paper,
            Arm(f"<b>{made.HOSTILE.replace('/', '|')}", "program"),
            made.flipped,
            extra=notes,
        )
    store = build_store(runs, papers, rubrics=made.RUBRICS).store
    return write_report(store, runs.parent / "site").parent


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    program = shutil.which("chromium") or shutil.which("chromium-browser")
    if program is None:
        if os.environ.get("CI"):
            pytest.fail("no chromium: apt-get install chromium")
        pytest.skip("no chromium: apt-get install chromium")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=program, args=FLAGS)
        yield running
        running.close()


class _Visit:
    """A page with everything that it complained of or asked the network for."""

    def __init__(self, browser: Browser, **options: object) -> None:
        self.context = browser.new_context(**options)  # type: ignore[arg-type]
        self.page: Page = self.context.new_page()
        self.complaints: list[str] = []
        self.asked: list[str] = []
        self.page.on("console", lambda message: self.complaints.append(message.text))
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("dialog", lambda dialog: self.complaints.append(dialog.message))
        self.page.on("request", lambda request: self.asked.append(request.url))

    def close(self) -> None:
        assert self.complaints == []
        assert all(url.startswith(("file:", "data:")) for url in self.asked)
        self.context.close()


def flipped_page(site: Path) -> str:
    (page,) = [one for one in (site / "runs" / "paper_a").glob("*.html") if "exact" not in one.name]
    return page.as_uri()


def test_every_page_is_quiet(site: Path, browser: Browser) -> None:
    visit = _Visit(browser)
    found = sorted(site.rglob("*.html"))
    assert len(found) >= 10
    for path in found:
        visit.page.goto(path.as_uri())
    visit.close()


def test_hover_shows_the_deviation_and_marks_the_twin(site: Path, browser: Browser) -> None:
    visit = _Visit(browser)
    visit.page.goto(flipped_page(site))
    card = visit.page.locator("#card")
    assert card.is_hidden()
    cell = visit.page.locator(".reproduced td.val").first
    cell.hover()
    assert card.is_visible()
    text = card.inner_text()
    for said in ("Class size", "(1)", "−2.28**"[1:], "+200 %", "9.5", "differs"):
        assert said in text
    assert visit.page.locator(".published td.val.lit").inner_text() == "−2.28**"
    visit.page.locator("h1").hover()
    assert card.is_hidden()
    assert visit.page.locator(".lit").count() == 0
    visit.close()


def test_keyboard_reaches_the_details(site: Path, browser: Browser) -> None:
    visit = _Visit(browser)
    visit.page.goto(flipped_page(site))
    cell = visit.page.locator(".reproduced td.val").nth(2)
    cell.focus()
    card = visit.page.locator("#card")
    assert card.is_visible()
    # The standard error under the first estimate, exact; its row is named by the one above.
    assert "Class size" in card.inner_text()
    assert "grade A" in (cell.get_attribute("aria-label") or "")
    assert cell.get_attribute("aria-describedby") == "card"
    visit.page.keyboard.press("Tab")
    assert visit.page.locator(".reproduced td.val").nth(3).get_attribute("aria-describedby")
    visit.page.keyboard.press("Escape")
    assert card.is_hidden()
    visit.close()


def test_card_stays_on_the_screen_of_a_phone(site: Path, browser: Browser) -> None:
    visit = _Visit(browser, viewport={"width": 375, "height": 720})
    visit.page.goto(flipped_page(site))
    overflow = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
    assert visit.page.evaluate(overflow) <= 0
    for cell in visit.page.locator(".reproduced td.val").all()[:4]:
        cell.scroll_into_view_if_needed()
        cell.focus()
        box = visit.page.locator("#card").bounding_box()
        assert box is not None
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= 375
    visit.page.goto((site / "index.html").as_uri())
    assert visit.page.evaluate(overflow) <= 0
    visit.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_on_grades_can_be_read(site: Path, browser: Browser, scheme: str) -> None:
    visit = _Visit(browser, color_scheme=scheme)
    visit.page.goto((site / "index.html").as_uri())
    ratios = visit.page.evaluate(_CONTRAST)
    assert len(ratios) == 6
    assert min(ratios) >= 4.5, ratios
    visit.close()


_CONTRAST = """() => {
  const channel = (v) =>
    v / 255 <= .03928 ? v / 255 / 12.92 : ((v / 255 + .055) / 1.055) ** 2.4;
  const light = (c) => { const [r, g, b] = c.match(/[0-9.]+/g).map(Number);
    return .2126 * channel(r) + .7152 * channel(g) + .0722 * channel(b); };
  return [...document.querySelectorAll('.legend i')].map((one) => {
    const style = getComputedStyle(one);
    const [a, b] = [light(style.color), light(style.backgroundColor)].sort((x, y) => y - x);
    return (a + .05) / (b + .05); });
}"""
