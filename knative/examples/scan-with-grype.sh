#!/bin/sh
# /scan of a scanner image with Grype (docs/quarantine.md): a report for each image of the quarantine. An image that cannot be scanned ends it, and the transfer fails.
# The image has grype and its database in /db (GRYPE_DB_CACHE_DIR); a database that is older than five days is refused by Grype.
set -eu
export GRYPE_DB_CACHE_DIR="${GRYPE_DB_CACHE_DIR:-/db}" GRYPE_DB_AUTO_UPDATE=false GRYPE_CHECK_FOR_APP_UPDATE=false
# What Grype unpacks must not be written anywhere else.
export TMPDIR="${TMPDIR:-/tmp/arc}" HOME="${TMPDIR:-/tmp/arc}"
reports="${ARC_REPORTS_DIR:-/var/lib/arc/reports}"
for image in "${ARC_QUARANTINE_DIR:-/var/lib/arc/quarantine}"/images/*/; do
  [ -d "$image" ] || continue
  name=$(basename "$image")
  grype "oci-dir:$image" --output "json=$reports/$name.json" --output "cyclonedx-json=$reports/$name.sbom.json"
done
