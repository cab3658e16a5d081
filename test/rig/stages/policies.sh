#!/usr/bin/env bash
# Enforces NetworkPolicies: kube-router's firewall, without its router and proxy. Before this stage every policy is only stored.
. "$(dirname "$0")/../lib.sh"

require_free kube-router 20244
start kube-router kube-router --kubeconfig="$KUBECONFIG" --hostname-override="$NODE_NAME" \
  --run-firewall --run-router=false --run-service-proxy=false --enable-cni=false \
  --service-cluster-ip-range="$SERVICE_CIDR" --metrics-port=0 --health-port=20244 --iptables-sync-period=1m
wait_ready kube-router 60 curl -fsS -o /dev/null http://127.0.0.1:20244/healthz
say "NetworkPolicies are enforced"
