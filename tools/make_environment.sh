#!/usr/bin/env bash
# Makes one of the two Python environments from its lock, hashes checked.
# Usage: make_environment.sh harness|analysis FOLDER
set -euo pipefail
kind=$1 folder=$2
python=${PYTHON:-python3}
"$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' || {
  echo "blindbench needs Python 3.11 or newer; $("$python" --version) was found. Set PYTHON=..." >&2
  exit 2
}
if [ "$kind" = harness ]; then
  if [ ! -x "$folder/bin/python" ] && ! "$python" -m venv "$folder"; then
    echo "Python's venv module does not work here; on Debian: apt-get install python3-venv" >&2
    exit 2
  fi
  [ -x "$folder/bin/uv" ] || "$folder/bin/python" -m pip install --quiet --disable-pip-version-check \
    "$(sed -nE 's/^(uv==[0-9.]+).*/\1/p' locks/harness.lock)"
  "$folder/bin/uv" pip install --quiet --python "$folder/bin/python" --require-hashes -r locks/harness.lock
  "$folder/bin/uv" pip install --quiet --python "$folder/bin/python" --no-deps --no-build-isolation -e .
else
  rm -rf "$folder"
  "$UV" venv --quiet --python "$python" "$folder"
  "$UV" pip install --quiet --link-mode copy --python "$folder/bin/python" --require-hashes -r data/registries/analysis.lock
  # Tests and documentation of packages print published tables; no run needs them.
  "$(dirname "$UV")/python" -m bench.jail.prune "$folder"
fi
