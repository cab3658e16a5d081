#!/usr/bin/env bash
# Installs Kueue with upstream's manifests, in a pod: its own certificates for its webhooks, plain pods among its integrations, and its
# visibility API. From then on kube-apiserver asks its webhook about every pod, so nothing starts while Kueue is away.
. "$(dirname "$0")/../lib.sh"
. "$HERE/images.sh"
upstream=$(module_dir sigs.k8s.io/kueue "v$KUEUE")/config/default

program_image dev.local/kueue:rig kueue
# The CPU is requested for a cluster of its own; the machine has two cores.
kubectl kustomize "$upstream" |
  sed -E -e 's#^( +)image: \S+/kueue:\S+#\1image: dev.local/kueue:rig#' -e 's#^( +)imagePullPolicy: Always#\1imagePullPolicy: IfNotPresent#' \
    -e 's#^( +- )/manager$#\1/kueue#' -e 's#^( +cpu: )500m$#\150m#' |
  kubectl apply --server-side --force-conflicts -f - > /dev/null
wait_available kueue-system kueue-controller-manager
# Its deployment is available before its certificate is in the webhook configurations.
accepts() { kubectl create --dry-run=server -f "$HERE/manifests/flavor.yaml"; }
retry 90 accepts
kubectl wait --for=condition=Available --timeout=60s apiservice/v1beta2.visibility.kueue.x-k8s.io > /dev/null
say "Kueue is up"
