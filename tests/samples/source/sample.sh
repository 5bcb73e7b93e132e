#!/usr/bin/env bash
set -euo pipefail

LIMIT=3

# Docks a ship.
# In two lines.
dock() {
  local ship="$1"
  echo "$ship"
}

function harbour {
  dock "x"
}

function tide() { echo low; }; wave() { echo high; }

cat <<EOF
not_a_function() {
}
EOF

main() (
  harbour
)

main "$@"
