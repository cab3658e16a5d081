#!/usr/bin/env bash
# build.sh DIR: builds `registry` (the CNCF distribution), `crane` and `helm-judge` (Helm's library) into DIR, at the versions of go.mod.
# What is there already stays.
. "$(dirname "$0")/../go-build.sh"
go_build registry .
go_build crane github.com/google/go-containerregistry/cmd/crane
cd ../helm-judge
go_build helm-judge .
