#!/bin/sh
# /scan of a scanner image with Grype (docs/quarantine.md): writes a report for each image of the quarantine. If an image cannot be scanned, the script and the transfer fail.
# The image has grype and its database in /db (GRYPE_DB_CACHE_DIR), or GRYPE_DB_URL is the URL of a database as tar.gz, such as a blob of a mirror.
# Grype rejects a database that is older than five days.
set -eu
export GRYPE_DB_CACHE_DIR="${GRYPE_DB_CACHE_DIR:-/db}" GRYPE_DB_AUTO_UPDATE=false GRYPE_CHECK_FOR_APP_UPDATE=false
# Grype may unpack images only here.
export TMPDIR="${TMPDIR:-/tmp/arc}" HOME="${TMPDIR:-/tmp/arc}"
if [ -n "${GRYPE_DB_URL:-}" ]; then
  GRYPE_DB_CACHE_DIR="$TMPDIR/db"
  mkdir -p "$GRYPE_DB_CACHE_DIR"
  wget -q -O "$TMPDIR/db.tar.gz" "$GRYPE_DB_URL"
  case "$GRYPE_DB_URL" in
    */sha256:*) echo "${GRYPE_DB_URL##*:}  $TMPDIR/db.tar.gz" | sha256sum -c > /dev/null ;;
  esac
  tar -xzf "$TMPDIR/db.tar.gz" -C "$GRYPE_DB_CACHE_DIR"
fi
reports="${ARC_REPORTS_DIR:-/var/lib/arc/reports}"
for image in "${ARC_QUARANTINE_DIR:-/var/lib/arc/quarantine}"/images/*/; do
  [ -d "$image" ] || continue
  name=$(basename "$image")
  grype "oci-dir:$image" --output "json=$reports/$name.json" --output "cyclonedx-json=$reports/$name.sbom.json"
done
