#!/usr/bin/env bash
# build.sh DIR: builds `cert-manager` into DIR, at the version of go.mod, and puts its kinds beside it. What is there already stays.
. "$(dirname "$0")/../go-build.sh"
go_build cert-manager .
kinds="$out/cert-manager-kinds.yaml"
[ "$kinds" -nt "$out/cert-manager" ] && exit
cat "$(go list -m -f '{{.Dir}}' github.com/cert-manager/cert-manager)"/deploy/crds/cert-manager.io_*.yaml > "$kinds.new"
mv "$kinds.new" "$kinds"
