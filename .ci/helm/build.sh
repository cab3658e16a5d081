#!/usr/bin/env bash
# build.sh DIR: builds `helm` and `krew` into DIR, at the versions of go.mod: what installs the chart and the plugin of a release. What is there already
# stays.
. "$(dirname "$0")/../go-build.sh"
go_build helm helm.sh/helm/v4/cmd/helm
cd ../krew
go_build krew sigs.k8s.io/krew/cmd/krew
