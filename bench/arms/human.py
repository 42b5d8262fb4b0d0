"""The human reference: re-implementations written from methods, templates and data alone.

One script a table, `human/<slug>.py` in the paper's folder. A script starts in the workspace,
reads `data/` and `table_templates/<slug>.json`, and writes `<slug>.json` at full precision.
"""

from __future__ import annotations

from bench.arms.inside import scripts_in_order
from bench.arms.interface import ArmContext, ArmKind, NothingToRun, Preparation, options_of

__all__ = ["HumanArm"]


class HumanArm:
    """Runs the scripts of the paper's folder `human/`, table by table."""

    name = "human"
    kind: ArmKind = "reference"

    def prepare(self, context: ArmContext) -> Preparation:
        """All scripts of the folder go in; those named after a table are run.

        Raises
        ------
        NothingToRun
            When no table of the paper has a script.
        UserError
            When the arm has options: it takes none.
        """
        options_of(context.arm, {})
        scripts = context.paper_folder.human_scripts if context.paper_folder else {}
        run = [scripts[table.slug].name for table in context.templates if table.slug in scripts]
        if not run:
            raise NothingToRun(f"paper {context.paper_id} has no human/<table>.py")
        return scripts_in_order(run, {path.name: path.read_bytes() for path in scripts.values()})
