#!/usr/bin/env bash
# build.sh DIR: builds `registry` (the CNCF distribution), `crane`, `helm-judge` (Helm's library), what the bench of transfers compares
# with, `regctl` and `oras`, and what docs/compatibility.md has beside these, `umoci`, `regsync` and `ocimem` (CUE's registry), into DIR, at
# the versions of go.mod. What is there already stays.
. "$(dirname "$0")/../go-build.sh"
go_build registry .
go_build crane github.com/google/go-containerregistry/cmd/crane
cd ../helm-judge
go_build helm-judge .
cd ../transfer-rivals
go_build regctl github.com/regclient/regclient/cmd/regctl
go_build oras oras.land/oras/cmd/oras
cd ../compatibility
go_build umoci github.com/opencontainers/umoci/cmd/umoci
go_build regsync github.com/regclient/regclient/cmd/regsync
go_build ocimem ./ocimem
