# Images of the rig's containerd, and upstream's manifests that refer to them; sourced after lib.sh.

containers() { ctr -a "$CONTAINERD_SOCKET" -n k8s.io "$@"; }

# grep without -q, which would exit at the first match and let ctr fail with SIGPIPE.
have_image() { containers images ls -q | grep -Fx "$1" > /dev/null; }

program_image() { # NAME PROGRAM [ARGUMENT...] : an image of one static program of $BIN, unless the node has it
  local name=$1 program=$2 root
  shift 2
  ! have_image "$name" || return 0
  root=$(mktemp -d)
  mkdir -m 1777 "$root/tmp"
  cp "$BIN/$program" "$root/$program"
  "$HERE/image.sh" "$name" "$root" "/$program" "$@"
  rm -rf "$root"
}

# Prints files as one YAML stream in which ko://knative.dev/x/cmd/y is the image dev.local/knative.dev/x/cmd/y:rig. Each document
# starts with `---`: two documents joined without it become one, and the first is lost without a message.
manifests() { # FILE...
  local file
  for file in "$@"; do
    echo "---"
    sed -E 's#ko://([a-zA-Z0-9_./-]+)#dev.local/\1:rig#' "$file"
    echo
  done
}

# The manifests of folders, without HorizontalPodAutoscalers: the rig has no metrics server.
manifests_in() { # FOLDER...
  local folder
  for folder in "$@"; do
    manifests $(find "$folder" -maxdepth 1 -name '*.yaml' ! -name '*hpa*' | sort)
  done
}

wait_available() { # NAMESPACE DEPLOYMENT...
  local namespace=$1 name
  shift
  for name in "$@"; do
    kubectl -n "$namespace" rollout status "deployment/$name" --timeout=180s > /dev/null || {
      say "deployment $namespace/$name is not available"
      return 1
    }
  done
}
