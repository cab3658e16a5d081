# The head of the scripts that build the programs of the tests, `build.sh DIR`: it goes to the folder of the script, where its
# go.mod lies, and leaves DIR in $out.
# go_build NAME PACKAGE [LDFLAGS]: puts PACKAGE into DIR as NAME, unless the one there is made of the same sources.
set -euo pipefail
[ $# -eq 1 ] || { echo "usage: $0 DIR" >&2; exit 2; }
mkdir -p "$1"
out=$(realpath "$1")
cd "$(dirname "$0")"
export CGO_ENABLED=0
go_build() {
  local name=$1 package=$2 flags=${3:-} stamp
  stamp=$({
    echo "$flags"
    go version
    find . -name '*.go' -o -name 'go.*' | LC_ALL=C sort | xargs sha256sum
  } | sha256sum | cut -d' ' -f1)
  [ -x "$out/$name" ] && [ "$(cat "$out/.$name.stamp" 2>/dev/null)" = "$stamp" ] && return
  go build -trimpath -buildvcs=false -ldflags="-s -w $flags" -o "$out/$name" "$package"
  echo "$stamp" > "$out/.$name.stamp"
}
