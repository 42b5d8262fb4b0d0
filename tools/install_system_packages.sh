#!/usr/bin/env bash
# Installs the few Debian packages that no wheel brings, when root; otherwise says which are missing.
# Usage: install_system_packages.sh demo|test
set -euo pipefail
wanted=(bubblewrap)
if [ "${1:-demo}" = test ]; then
  wanted+=(chromium fonts-dejavu-core r-base-core r-cran-aer r-cran-plm r-cran-pscl r-cran-sandwich r-cran-survey r-cran-haven r-cran-readxl)
fi
command -v dpkg-query >/dev/null || { echo "Not a Debian system: install by hand: ${wanted[*]}"; exit 0; }
missing=()
for package in "${wanted[@]}"; do
  [ "$(dpkg-query -W -f '${Status}' "$package" 2>/dev/null)" = "install ok installed" ] || missing+=("$package")
done
[ ${#missing[@]} -eq 0 ] && exit 0
if [ "$(id -u)" -ne 0 ]; then
  echo "These system packages are missing: ${missing[*]}"
  echo "Install them with: sudo apt-get install --no-install-recommends ${missing[*]}"
  exit 0
fi
echo "Installing system packages: ${missing[*]}"
export DEBIAN_FRONTEND=noninteractive
apt-get update -qq
apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
