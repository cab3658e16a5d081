#!/usr/bin/env bash
# build.sh DIR: builds `versitygw`, an S3 server, into DIR, at the version of go.mod. What is there already stays.
set -euo pipefail
[ $# -eq 1 ] || { echo "usage: $0 DIR" >&2; exit 2; }
mkdir -p "$1"
out=$(realpath "$1")
cd "$(dirname "$0")"
. ../go-build.sh
go_build "$out" versitygw github.com/versity/versitygw/cmd/versitygw
