#!/usr/bin/env bash
# build.sh DIR: builds `registry` (the CNCF distribution), `crane`, `helm-judge` (Helm's library), and what the bench of transfers
# compares with, `regctl` and `oras`, into DIR, at the versions of go.mod. What is there already stays.
. "$(dirname "$0")/../go-build.sh"
go_build registry .
go_build crane github.com/google/go-containerregistry/cmd/crane
cd ../helm-judge
go_build helm-judge .
cd ../transfer-rivals
go_build regctl github.com/regclient/regclient/cmd/regctl
go_build oras oras.land/oras/cmd/oras
