#!/usr/bin/env bash
# rig-images.sh: gives the rig what the manifests name (it has no registry and no storage class): our image, etcd's, the
# tests' registry, what the bench compares with, and volumes whose data outlives an installation: one for overlays/dev, three
# for overlays/production.
set -euo pipefail
cd "$(dirname "$0")/.."
: "${RIG:?}" "${REGISTRY_TOOLS:?}"
rig=$(cd ../shared/rig && pwd)
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
  IMAGE_USER=0 bash "$rig/image.sh" "$1" "$work/image" "$2"
  rm -rf "$work/image"
}
binary registry.k8s.io/etcd:3.6.5-0 /usr/local/bin/etcd "$RIG/bin/etcd"
binary dev.local/registry:test /registry "$REGISTRY_TOOLS/registry"

volume() { # NAME FOLDER SIZE CLAIM CLASS : a folder of the node
  mkdir -p "$RIG/data/$2"
  kubectl apply -f - <<YAML
apiVersion: v1
kind: PersistentVolume
metadata: { name: $1 }
spec:
  capacity: { storage: $3 }
  accessModes: [ReadWriteOnce]
  persistentVolumeReclaimPolicy: Retain
  storageClassName: "$5"
  claimRef: { namespace: arc-system, name: $4 }
  local: { path: $RIG/data/$2 }
  nodeAffinity:
    required:
      nodeSelectorTerms:
        - matchExpressions: [{ key: kubernetes.io/hostname, operator: In, values: [rig] }]
YAML
}
volume arc-etcd-0 arc-etcd 1Gi data-etcd-0 ""
for member in 0 1 2; do
  volume "arc-production-$member" "arc-production-$member" 10Gi "data-etcd-$member" arc-production
done
