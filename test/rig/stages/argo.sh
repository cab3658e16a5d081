#!/usr/bin/env bash
# Installs Argo Workflows with upstream's CRDs and RBAC. The controller runs on the host and sees every namespace.
. "$(dirname "$0")/../lib.sh"
. "$HERE/images.sh"
upstream=$(module_dir github.com/argoproj/argo-workflows/v3 "v$ARGO_WORKFLOWS")/manifests
executor=dev.local/argoexec:v$ARGO_WORKFLOWS

kubectl apply -f "$HERE/manifests/argo-namespace.yaml" > /dev/null
kubectl apply --server-side -k "$upstream/base/crds/minimal" > /dev/null
kubectl kustomize "$upstream/cluster-install-no-crds/workflow-controller-rbac" |
  sed 's/^- kind: ServiceAccount$/&\n  namespace: argo/' | kubectl -n argo apply -f - > /dev/null
kubectl -n argo apply -f "$upstream/base/workflow-controller/workflow-controller-sa.yaml" \
  -f "$upstream/base/workflow-controller/workflow-controller-priorityclass.yaml" \
  -f "$HERE/manifests/argo.yaml" > /dev/null

if alive containerd && ! have_image "$executor"; then
  root=$(mktemp -d)
  mkdir "$root/bin" "$root/etc"
  mkdir -m 1777 "$root/tmp"
  cp "$BIN/argoexec" "$root/bin/"
  echo 'root:x:0:0::/:/bin/sh' > "$root/etc/passwd"
  IMAGE_USER=0 "$HERE/image.sh" "$executor" "$root" /bin/argoexec
  rm -rf "$root"
fi

require_free workflow-controller 9090 6060
export LEADER_ELECTION_DISABLE=true
start workflow-controller workflow-controller --kubeconfig "$KUBECONFIG" --namespace argo \
  --configmap workflow-controller-configmap --executor-image "$executor" --executor-image-pull-policy IfNotPresent
wait_ready workflow-controller 30 curl -fs http://127.0.0.1:6060/healthz
say "Argo Workflows is up"
