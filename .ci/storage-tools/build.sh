#!/usr/bin/env bash
# build.sh DIR: builds `versitygw`, an S3 server, into DIR, at the version of go.mod. What is there already stays.
. "$(dirname "$0")/../go-build.sh"
go_build versitygw github.com/versity/versitygw/cmd/versitygw
