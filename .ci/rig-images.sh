#!/usr/bin/env bash
# rig-images.sh: imports into the rig's node what the manifests refer to, since the rig has no registry and no storage class: the
# images of ARC, etcd, of the tests' registry, web server, S3 storage and scanner, and of the bench's baseline; and volumes that
# outlive an installation: one for overlays/dev, three for overlays/production, one for the bundles of a team.
set -euo pipefail
cd "$(dirname "$0")/.."
: "${RIG:?}" "${REGISTRY_TOOLS:?}" "${STORAGE_TOOLS:?}"
export KUBECONFIG="$RIG/kubeconfig" PATH="$RIG/bin:$PATH:/usr/sbin:/sbin"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
import() { ctr -a "$RIG/run/containerd/containerd.sock" -n k8s.io images import "$1"; }

npm run -s image -- --archive "$work/arc.tar" --name dev.local/artifact-conduit:dev
import "$work/arc.tar"
npx node test/bench/bare-hono/image.ts "$work/bare-hono.tar"
import "$work/bare-hono.tar"
binary() { # NAME DESTINATION PROGRAM : an image of one static program
  mkdir -p "$work/image$(dirname "$2")" "$work/image/tmp"
  cp "$3" "$work/image$2"
  IMAGE_USER=0 test/rig/image.sh "$1" "$work/image" "$2"
  rm -rf "$work/image"
}
binary registry.k8s.io/etcd:3.6.5-0 /usr/local/bin/etcd "$RIG/bin/etcd"
binary dev.local/registry:test /registry "$REGISTRY_TOOLS/registry"
binary dev.local/versitygw:test /versitygw "$STORAGE_TOOLS/versitygw"
# BusyBox acts as the program of its name.
binary dev.local/httpd:test /httpd "$(command -v busybox)"

# A scanner as operators build it: Grype and the script of the examples. An Order brings the database.
scanner="$work/scanner"
mkdir -p "$scanner/bin" "$scanner/tmp"
cp "$(command -v busybox)" "$scanner/bin/busybox"
for name in sh basename mkdir wget sha256sum tar; do ln -s busybox "$scanner/bin/$name"; done
cp "$REGISTRY_TOOLS/grype" "$scanner/bin/grype"
cp knative/examples/scan-with-grype.sh "$scanner/scan"
test/rig/image.sh dev.local/scanner:test "$scanner" /scan

# The claims of the two overlays have the same names: the storage class keeps their volumes apart. No `claimRef` there, since
# Kubernetes binds a volume to the claim it names without comparing classes.
volume() { # NAME FOLDER SIZE CLASS [NAMESPACE/CLAIM] : a folder of the node, reserved for CLAIM if given
  local claim=""
  [ -z "${5:-}" ] || claim="claimRef: { namespace: ${5%/*}, name: ${5#*/} }"
  mkdir -p "$RIG/data/$2"
  kubectl apply -f - <<YAML
apiVersion: v1
kind: PersistentVolume
metadata: { name: $1 }
spec:
  capacity: { storage: $3 }
  accessModes: [ReadWriteOnce]
  persistentVolumeReclaimPolicy: Retain
  storageClassName: "$4"
  $claim
  local: { path: $RIG/data/$2 }
  nodeAffinity:
    required:
      nodeSelectorTerms:
        - matchExpressions: [{ key: kubernetes.io/hostname, operator: In, values: [rig] }]
YAML
}
volume arc-etcd-0 arc-etcd 1Gi ""
volume arc-team-bundles arc-team-bundles 1Gi "" team/arc-bundles
for member in 0 1 2; do
  volume "arc-production-$member" "arc-production-$member" 10Gi arc-production
done
