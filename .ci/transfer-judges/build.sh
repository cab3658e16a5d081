#!/usr/bin/env bash
# build.sh DIR: builds `cosign`, `grype`, `syft` and `grype-db`, which makes a database for Grype, into DIR, at the versions of go.mod.
# What is there already stays.
. "$(dirname "$0")/../go-build.sh"
go_build cosign ./cosign
go_build grype github.com/anchore/grype/cmd/grype
go_build syft github.com/anchore/syft/cmd/syft
go_build grype-db ./grype-db
