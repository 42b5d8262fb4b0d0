"""The docs speak of what exists: commands, options, files, links."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import typer.main

from bench.cli.main import VERBS, app_for

ROOT = Path(__file__).parents[2]
PAGES = sorted([ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").glob("*.md")])
COMMAND = re.compile(r"^\s*(?:\$ )?bench ([a-z-]+)(.*)$|`bench ([a-z-]+)([^`]*)`", re.MULTILINE)


def _command_tree() -> dict[str, dict[str, set[str]]]:
    tree: dict[str, dict[str, set[str]]] = {}
    for verb in VERBS:
        command = typer.main.get_command(app_for(verb)).commands[verb]  # type: ignore[attr-defined]
        leaves = getattr(command, "commands", {"": command})
        tree[verb] = {
            name: {option for parameter in leaf.params for option in parameter.opts}
            for name, leaf in leaves.items()
        }
    return tree


TREE = _command_tree()


def _uses(page: Path) -> list[tuple[str, str]]:
    text = page.read_text()
    return [(a or c, b or d or "") for a, b, c, d in COMMAND.findall(text)]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_commands_and_options_in_the_docs_exist(page: Path) -> None:
    for verbs, rest in _uses(page):
        assert verbs in TREE, f"{page.name}: bench {verbs} does not exist"
        words = rest.split()
        leaves = TREE[verbs]
        chosen = (
            leaves.get("")
            if "" in leaves
            else leaves.get(words[0].split("|")[0], None)
            if words
            else set()
        )
        if chosen is None:
            pytest.fail(f"{page.name}: bench {verbs} {words[0]} does not exist")
        for word in words:
            if word.startswith("--"):
                option = re.match(r"--[a-z-]+", word)
                assert option
                assert option.group() in {*chosen, "--help", "--version"}, (
                    f"{page.name}: bench {verbs} has no {option.group()}"
                )


def test_every_command_has_an_example_in_the_docs() -> None:
    used = {verb for page in PAGES for verb, _ in _uses(page)}
    assert not set(VERBS) - used


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_relative_links_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\((?!https?:|#|mailto:)([^)#]+)", page.read_text()):
        assert (page.parent / target).exists(), f"{page.name} -> {target}"


def test_readme_names_the_two_commands() -> None:
    text = (ROOT / "README.md").read_text()
    assert "make demo" in text
    assert "make test" in text


def test_house_in_the_docs_is_the_house_that_the_linter_holds() -> None:
    pyproject = (ROOT / "pyproject.toml").read_text()
    assert 'layers = ["bench", "diagnose", "audit", "extract | grade", "data"]' in pyproject
    assert (
        "data  <-  extract | grade  <-  audit  <-  diagnose  <-  bench"
        in (ROOT / "CONTRIBUTING.md").read_text()
    )
