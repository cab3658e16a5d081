# Sourced by the scripts that build the Go programs of the tests, in the folder of their go.mod.
# go_build DIR NAME PACKAGE [LDFLAGS]: puts PACKAGE into DIR as NAME, unless the one there is made of the same sources.
export CGO_ENABLED=0
go_build() {
  local dir=$1 name=$2 package=$3 flags=${4:-} stamp
  stamp=$({
    echo "$flags"
    go version
    find . -name '*.go' -o -name 'go.*' | LC_ALL=C sort | xargs sha256sum
  } | sha256sum | cut -d' ' -f1)
  [ -x "$dir/$name" ] && [ "$(cat "$dir/.$name.stamp" 2>/dev/null)" = "$stamp" ] && return
  go build -trimpath -buildvcs=false -ldflags="-s -w $flags" -o "$dir/$name" "$package"
  echo "$stamp" > "$dir/.$name.stamp"
}
