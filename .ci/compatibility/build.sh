#!/usr/bin/env bash
# build.sh DIR: builds what docs/compatibility.md has beside the registry tools: `umoci`, `regsync` and `ocimem` (CUE's registry), into DIR,
# at the versions of go.mod. What is there already stays.
. "$(dirname "$0")/../go-build.sh"
go_build umoci github.com/opencontainers/umoci/cmd/umoci
go_build regsync github.com/regclient/regclient/cmd/regsync
go_build ocimem ./ocimem
