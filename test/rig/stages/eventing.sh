#!/usr/bin/env bash
# Installs Knative Eventing with upstream's manifests: controller, webhook, MT channel broker and in-memory channel, in pods.
. "$(dirname "$0")/../lib.sh"
. "$HERE/images.sh"
upstream=$(module_dir knative.dev/eventing "v$KNATIVE_EVENTING")/config
core=$upstream/core broker=$upstream/brokers/mt-channel-broker channel=$upstream/channels/in-memory-channel

image=dev.local/knative.dev/eventing/cmd
program_image $image/controller:rig eventing-controller
program_image $image/webhook:rig eventing-webhook
program_image $image/mtchannel_broker:rig mtchannel_broker
program_image $image/broker/ingress:rig broker-ingress
program_image $image/broker/filter:rig broker-filter
program_image $image/in_memory/channel_controller:rig imc-controller
program_image $image/in_memory/channel_dispatcher:rig imc-dispatcher

manifests_in "$core/resources" "$channel/resources" | kubectl apply --server-side --force-conflicts -f - > /dev/null
{
  manifests "$core/100-namespace.yaml"
  manifests_in "$core" "$core/roles" "$core/configmaps" "$broker" "$broker/roles" "$channel" "$channel/roles" "$channel/configmaps"
  manifests "$HERE/manifests/eventing.yaml"
} | kubectl apply -f - > /dev/null
# Only the deployments whose programs are built: no sources, no job sink.
manifests "$core"/deployments/{controller,webhook}.yaml "$broker"/deployments/{controller,broker-ingress,broker-filter}.yaml \
  "$channel"/deployments/{controller,dispatcher-service,dispatcher}.yaml | kubectl apply -f - > /dev/null
manifests_in "$core/webhooks" "$channel/webhooks" | kubectl apply -f - > /dev/null

wait_available knative-eventing eventing-controller eventing-webhook mt-broker-controller mt-broker-ingress mt-broker-filter \
  imc-controller imc-dispatcher
say "Knative Eventing is up"
