#!/usr/bin/env bash
# image.sh NAME FOLDER [ENTRYPOINT [ARGUMENT...]] : makes an image of the files in FOLDER and imports it into the rig's containerd.
# Its user is $IMAGE_USER (65532). Names that start with dev.local/ are not looked up in a registry by Knative; a tag other than
# latest keeps kubelet from pulling.
. "$(dirname "$0")/lib.sh"
. "$HERE/images.sh"
name=$1 folder=$2
shift 2
layout=$(mktemp -d)
trap 'rm -rf "$layout"' EXIT
mkdir -p "$layout/blobs/sha256"

add_blob() { # MEDIA-TYPE FILE : moves FILE to the blobs and prints its descriptor
  local digest size
  digest=$(sha256sum < "$2" | cut -d' ' -f1)
  size=$(stat -c %s "$2")
  mv "$2" "$layout/blobs/sha256/$digest"
  jq -cn --arg type "$1" --arg digest "sha256:$digest" --argjson size "$size" \
    '{mediaType: $type, digest: $digest, size: $size}'
}

oci=application/vnd.oci.image
tar -C "$folder" --sort=name --owner=0 --group=0 --numeric-owner --mtime=@0 -cf "$layout/layer" .
layer=$(add_blob "$oci.layer.v1.tar" "$layout/layer")
jq -cn --argjson layer "$layer" --arg user "${IMAGE_USER:-65532}" --arg architecture "$(go env GOARCH)" \
  '{architecture: $architecture, os: "linux", rootfs: {type: "layers", diff_ids: [$layer.digest]}, config: {User: $user,
    Entrypoint: $ARGS.positional, Env: ["PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"]}}' \
  --args -- "$@" > "$layout/config"
config=$(add_blob "$oci.config.v1+json" "$layout/config")
jq -cn --argjson config "$config" --argjson layer "$layer" --arg type "$oci.manifest.v1+json" \
  '{schemaVersion: 2, mediaType: $type, config: $config, layers: [$layer]}' > "$layout/manifest"
manifest=$(add_blob "$oci.manifest.v1+json" "$layout/manifest")
jq -cn --argjson manifest "$manifest" --arg name "$name" \
  '{schemaVersion: 2, manifests: [$manifest + {annotations: {"io.containerd.image.name": $name}}]}' > "$layout/index.json"
echo '{"imageLayoutVersion":"1.0.0"}' > "$layout/oci-layout"

tar -C "$layout" -cf "$layout/image.tar" oci-layout index.json blobs
containers images import "$layout/image.tar" > /dev/null
say "imported image $name"
