"""Claims that every table was reproduced, and reproduces none.

Called as ``python claim_success.py nothing`` or ``python claim_success.py schema``: the second
also writes a file of every table's name that holds no table.
"""

import json
import sys
from pathlib import Path


def main(lie: str) -> None:
    """Write the claim."""
    slugs = sorted(path.stem for path in Path("table_templates").glob("*.json"))
    Path("notes.md").write_text(
        f"# Done\n\nAll {len(slugs)} tables were reproduced and match the paper.\n",
        encoding="utf-8",
    )
    if lie == "schema":
        for slug in slugs:
            claim = {"table": slug, "status": "reproduced", "result": "matches the paper"}
            Path(f"{slug}.json").write_text(json.dumps(claim), encoding="utf-8")
    print(f"all {len(slugs)} tables reproduced")


if __name__ == "__main__":
    main(sys.argv[1])
