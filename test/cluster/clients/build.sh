#!/usr/bin/env bash
# build.sh DIR: puts the clients of the cluster tests into DIR: kubectl-1.36, informers and kstatus, written in Go, and python, an
# environment with the Python client. What is there already stays.
. "$(dirname "$0")/../../../.ci/go-build.sh"
kubectl=$(sed -n 's|^\tk8s.io/kubectl v0|v1|p' go.mod)
minor=${kubectl#v1.}
minor=${minor%%.*}
version=k8s.io/component-base/version
go_build "kubectl-1.$minor" ./kubectl "-X $version.gitVersion=$kubectl -X $version.gitMajor=1 -X $version.gitMinor=$minor"
go_build informers ./informers
go_build kstatus ./kstatus
if [ ! -x "$out/python/bin/python" ] || ! cmp -s python/requirements.txt "$out/python/requirements.txt"; then
  python3 -m venv --clear "$out/python"
  "$out/python/bin/pip" install --quiet -r python/requirements.txt
  cp python/requirements.txt "$out/python/requirements.txt"
fi
