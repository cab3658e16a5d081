#!/usr/bin/env bash
# build.sh DIR: builds the Go clients of the cluster tests into DIR, as kubectl-1.36 and informers. What is there already stays.
set -euo pipefail
[ $# -eq 1 ] || { echo "usage: $0 DIR" >&2; exit 2; }
mkdir -p "$1"
out=$(realpath "$1")
cd "$(dirname "$0")"
. ../../../.ci/go-build.sh
kubectl=$(sed -n 's|^\tk8s.io/kubectl v0|v1|p' go.mod)
minor=${kubectl#v1.}
minor=${minor%%.*}
version=k8s.io/component-base/version
go_build "$out" "kubectl-1.$minor" ./kubectl "-X $version.gitVersion=$kubectl -X $version.gitMajor=1 -X $version.gitMinor=$minor"
go_build "$out" informers ./informers
