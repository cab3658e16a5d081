#!/usr/bin/env bash
# Installs Knative Serving with upstream's manifests, in pods, and `rigd ingress` on the host as its networking layer.
. "$(dirname "$0")/../lib.sh"
. "$HERE/images.sh"
serving=$(module_dir knative.dev/serving "v$KNATIVE_SERVING")
required() { # MODULE : the folder of a module in the version that Serving requires
  module_dir "$1" "$(awk -v module="$1" '$1 == module { print $2 }' "$serving/go.mod")"
}
core=$serving/config/core
networking=$(required knative.dev/networking)/config
caching=$(required knative.dev/caching)/config

for name in queue activator autoscaler controller webhook; do
  program_image "dev.local/knative.dev/serving/cmd/$name:rig" "serving-$name"
done
manifests "$core"/300-resources/*.yaml "$networking"/{certificate,domain-claim,ingress,serverlessservice}.yaml "$caching/image.yaml" |
  kubectl apply --server-side --force-conflicts -f - > /dev/null
{
  manifests "$core/100-namespace.yaml" "$core/200-serviceaccount.yaml" "$networking/config-network.yaml"
  manifests_in "$core/200-roles" "$core/configmaps"
  envsubst '$NODE_IP $INGRESS_PORT' < "$HERE/manifests/serving.yaml"
} | kubectl apply -f - > /dev/null
manifests_in "$core/deployments" | kubectl apply -f - > /dev/null
manifests_in "$core/webhooks" | kubectl apply -f - > /dev/null
wait_available knative-serving webhook controller autoscaler activator

configure() { # CONFIGMAP PATCH... ; repeated, since the webhook may not serve yet
  retry 20 kubectl -n knative-serving patch configmap "$1" --type merge "${@:2}"
}
configure config-network --patch '{"data": {"ingress-class": "rig.ingress.networking.knative.dev"}}'
configure config-domain --patch '{"data": {"rig.test": ""}}'
configure config-autoscaler --patch-file "$HERE/manifests/short-windows.yaml"
manifests_in "$core" | kubectl apply -f - > /dev/null || true # the cache object of queue-proxy, of a kind without a controller

require_free ingress "$INGRESS_PORT"
start ingress rigd ingress --server "https://$NODE_IP:$API_PORT" --ca "$PKI/ca.crt" --cert "$PKI/admin.crt" --key "$PKI/admin.key" \
  --listen "$NODE_IP:$INGRESS_PORT"
ingress_answers() { curl -s "http://$NODE_IP:$INGRESS_PORT" | grep 'no route'; }
wait_ready ingress 10 ingress_answers
say "Knative Serving is up: curl -H 'Host: NAME.NAMESPACE.rig.test' http://$NODE_IP:$INGRESS_PORT"
