#!/usr/bin/env bash
# rig-images.sh: gives the rig what the manifests name (it has no registry and no storage class): our image, etcd's, the
# tests' registry, what the bench compares with, and one volume whose data outlives an installation.
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

mkdir -p "$RIG/data/arc-etcd"
kubectl apply -f - <<YAML
apiVersion: v1
kind: PersistentVolume
metadata: { name: arc-etcd-0 }
spec:
  capacity: { storage: 1Gi }
  accessModes: [ReadWriteOnce]
  persistentVolumeReclaimPolicy: Retain
  claimRef: { namespace: arc-system, name: data-etcd-0 }
  local: { path: $RIG/data/arc-etcd }
  nodeAffinity:
    required:
      nodeSelectorTerms:
        - matchExpressions: [{ key: kubernetes.io/hostname, operator: In, values: [rig] }]
YAML
