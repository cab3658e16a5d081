#!/usr/bin/env bash
# build.sh DIR: builds `cosign`, `grype`, `syft` and `grype-db`, which makes a database for Grype, into DIR, at the versions of go.mod, and
# the services of a Sigstore: `fulcio`, `rekor-server`, `timestamp-server` and `tesseract`, a log of certificates. What is there already stays.
. "$(dirname "$0")/../go-build.sh"
go_build cosign ./cosign
go_build grype github.com/anchore/grype/cmd/grype
go_build syft github.com/anchore/syft/cmd/syft
go_build grype-db ./grype-db
cd ../sigstore
go_build fulcio github.com/sigstore/fulcio
go_build rekor-server github.com/sigstore/rekor-tiles/v2/cmd/rekor-server/posix
go_build timestamp-server github.com/sigstore/timestamp-authority/v2/cmd/timestamp-server
go_build tesseract github.com/transparency-dev/tesseract/cmd/tesseract/posix
