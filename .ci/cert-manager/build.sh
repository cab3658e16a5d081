#!/usr/bin/env bash
# build.sh DIR: builds `cert-manager` into DIR, at the version of go.mod, and puts its kinds beside it. What is there already stays.
set -euo pipefail
[ $# -eq 1 ] || { echo "usage: $0 DIR" >&2; exit 2; }
mkdir -p "$1"
out=$(realpath "$1")
cd "$(dirname "$0")"
. ../go-build.sh
go_build "$out" cert-manager .
kinds="$out/cert-manager-kinds.yaml"
[ "$kinds" -nt "$out/cert-manager" ] && exit
cat "$(go list -m -f '{{.Dir}}' github.com/cert-manager/cert-manager)"/deploy/crds/cert-manager.io_*.yaml > "$kinds.new"
mv "$kinds.new" "$kinds"
