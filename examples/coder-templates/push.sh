#!/bin/sh
# Pushes the worker template once for each role and sets what `portcullis doctor` looks for. Needs a template administrator's
# `coder login`. Variables of the template come from the environment as TF_VAR_… would name them: see README.md.
set -eu
cd "$(dirname "$0")"
push() {
  role=$1 name=$2 ttl=$3
  coder templates push "$name" --yes --directory worker \
    --variable role="$role" \
    --variable namespace="$NAMESPACE" \
    --variable image="$IMAGE" \
    --variable relay_image="$RELAY_IMAGE" \
    --variable package_path="$PACKAGE_PATH" \
    --variable package_sha256="$PACKAGE_SHA256" \
    --variable gateway_host="$GATEWAY_HOST" \
    --variable gateway_cidr="$GATEWAY_CIDR" \
    --variable coder_cidr="$CODER_CIDR" \
    --variable dns_cidr="$DNS_CIDR"
  # The control plane's timer is the TTL; Coder's is a backstop that comes later. Activity must never move it.
  coder templates edit "$name" --yes \
    --default-ttl "$ttl" --activity-bump 0 --dormancy-threshold 0 --allow-user-cancel-workspace-jobs=true
}
push forge development 4h15m
push sentinel evaluation 2h15m
push verifier verifier 2h15m
push lore documentation 1h15m
