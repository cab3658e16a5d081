#!/usr/bin/env bash
# build.sh OUT: puts the Go clients of the cluster tests into the folder OUT, as kubectl-1.36 and informers.
# What is newer than its source is not built again.
set -euo pipefail
out=$(realpath "$1")
cd "$(dirname "$0")"
export CGO_ENABLED=0 GOFLAGS="-buildvcs=false -trimpath"
kubectl=$(sed -n 's|^\tk8s.io/kubectl v0|v1|p' go.mod)
minor=${kubectl#v1.}
minor=${minor%%.*}
build() {
  [ -x "$out/$1" ] && [ -z "$(find go.mod "$2" -newer "$out/$1")" ] && return
  go build -ldflags "$3" -o "$out/$1" "./$2"
}
version=k8s.io/component-base/version
build "kubectl-1.$minor" kubectl "-s -w -X $version.gitVersion=$kubectl -X $version.gitMajor=1 -X $version.gitMinor=$minor"
build informers informers "-s -w"
