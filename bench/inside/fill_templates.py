"""Fills table templates with values that it was given, and then ends as it was told to.

Called as ``python fill_templates.py FILE`` with FILE a JSON object: ``tables``, by slug lists of
``[row, col, part, value]``; ``end``, one of ``done``, ``crash``, ``sleep``. A template whose
table is listed is written as ``<slug>.json``, cells without a value left as they are.
"""

import json
import sys
import time
from pathlib import Path

FOREVER = 10.0**6


def fill(slug: str, values: list[list[float]]) -> None:
    """Write one table."""
    template = Path("table_templates", f"{slug}.json").read_text(encoding="utf-8")
    table = json.loads(template)
    by_key = {(row, col, part): value for row, col, part, value in values}
    for cell in table["cells"]:
        key = (cell["row"], cell["col"], cell.get("part", 0))
        if key in by_key:
            cell["value"] = by_key[key]
    Path(f"{slug}.json").write_text(json.dumps(table, indent=1), encoding="utf-8")
    print(f"{slug}: {len(by_key)} cells", flush=True)


def main(name: str) -> None:
    """Fill what the file lists.

    Raises
    ------
    RuntimeError
        When it is told to crash.
    """
    plan = json.loads(Path(name).read_text(encoding="utf-8"))
    for slug, values in plan["tables"].items():
        fill(slug, values)
    if plan["end"] == "crash":
        raise RuntimeError("crashing halfway, as told to")
    if plan["end"] == "sleep":
        print("sleeping past the limit, as told to", flush=True)
        time.sleep(FOREVER)


if __name__ == "__main__":
    main(sys.argv[1])
