#!/usr/bin/env bash
# build.sh DIR: builds `kine`, which speaks etcd's protocol in front of a SQL database, into DIR, at the version of go.mod. What is
# there already stays. Its driver of SQLite is C.
. "$(dirname "$0")/../go-build.sh"
export CGO_ENABLED=1
go_build kine github.com/k3s-io/kine "-X github.com/k3s-io/kine/pkg/version.Version=$(go list -m -f '{{.Version}}' github.com/k3s-io/kine)"
