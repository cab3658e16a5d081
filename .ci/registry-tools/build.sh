#!/usr/bin/env bash
# build.sh DIR: builds `registry` (the CNCF distribution), `crane` and `helm-judge` (Helm's library) into DIR, at the versions of go.mod.
# What is there already stays.
set -euo pipefail
[ $# -eq 1 ] || { echo "usage: $0 DIR" >&2; exit 2; }
mkdir -p "$1"
out=$(realpath "$1")
cd "$(dirname "$0")"
. ../go-build.sh
go_build "$out" registry .
go_build "$out" crane github.com/google/go-containerregistry/cmd/crane
cd ../helm-judge
go_build "$out" helm-judge .
