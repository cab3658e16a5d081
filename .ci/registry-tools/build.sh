#!/usr/bin/env bash
# build.sh DIR: builds `registry` (the CNCF distribution) and `crane` into DIR, at the versions of go.mod. What is there already stays.
set -euo pipefail
[ $# -eq 1 ] || { echo "usage: $0 DIR" >&2; exit 2; }
mkdir -p "$1"
out=$(cd "$1" && pwd)
cd "$(dirname "$0")"
export CGO_ENABLED=0
build() { # NAME PACKAGE
  local stamp; stamp=$(sha256sum go.sum main.go | sha256sum | cut -d' ' -f1)
  [ -x "$out/$1" ] && [ "$(cat "$out/.$1.stamp" 2>/dev/null)" = "$stamp" ] && return
  go build -trimpath -ldflags='-s -w' -o "$out/$1" "$2"
  echo "$stamp" > "$out/.$1.stamp"
}
build registry .
build crane github.com/google/go-containerregistry/cmd/crane
