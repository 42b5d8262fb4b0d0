"""Runs the scripts that it is given, one after the other, whatever becomes of each.

Called as ``python run_scripts.py SCRIPT...``. Exit code 1 when one of them failed.
"""

import subprocess
import sys
import time


def main(scripts: list[str]) -> int:
    """Run each script and say how it ended; number of those that failed, at most 1."""
    failed = []
    for script in scripts:
        started = time.monotonic()
        print(f"== {script}", flush=True)
        code = subprocess.run([sys.executable, script], check=False).returncode
        print(f"== {script}: exit {code}, {time.monotonic() - started:.1f} s", flush=True)
        if code != 0:
            failed.append(script)
    if failed:
        print(f"failed: {', '.join(failed)}", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
