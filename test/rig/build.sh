#!/usr/bin/env bash
# build.sh [etcd|etcdctl|etcdutl|kube|coredns|rigd|policies|argo|eventing|source|serving|kueue]... : builds programs into $RIG/bin, by
# default all but source and kueue, from Go modules of the releases in versions.env. A program that was built from the same release and
# sources is kept.
. "$(dirname "$0")/lib.sh"
export CGO_ENABLED=0 GOFLAGS="-mod=mod -buildvcs=false -trimpath"

# The arguments of `go mod edit` that repeat a module's own replacements, which Go ignores in a dependency. Kubernetes replaces its
# staging modules by folders; they are published as v0.MINOR.PATCH.
replacements() { # GO.MOD
  go mod edit -print "$1" | sed -nE \
    -e "s#^(replace|\t)? *(k8s.io/[a-z-]+) => \./staging/.*#-replace=\2=\2@v0.${KUBERNETES#1.}#p" \
    -e 's#^(replace|\t)? *([^ ]+)( v[^ ]+)? => ([^ .][^ ]*) (v[^ ]+)$#-replace=\2=\4@\5#p'
}

# Enters a module of its own for a group of programs, with our sources if there are any.
enter_module() { # GROUP MODULE VERSION [FOLDER-TO-BUILD-FROM]
  mkdir -p "$SRC/$1"
  cd "$SRC/$1"
  rm -f go.mod go.sum ./*.go
  cp "$HERE/src/$1"/*.go . 2> /dev/null || true
  go mod init "rig/$1" 2> /dev/null
  [ -n "${2:-}" ] || return 0
  local upstream
  upstream=$(module_dir "$2" "$3")/go.mod
  # Upstream's language version: Go's defaults for runtime behaviour depend on it.
  go mod edit -go "$(sed -n 's/^go //p' "$upstream")" -require "$2@$3" $(replacements "$upstream")
  [ -z "${4:-}" ] || go mod edit -replace "$2=$4"
}

# Whether a program without a stamp, built by an earlier version of this script, contains the release.
contains_release() { # PROGRAM MODULE VERSION
  go version -m "$BIN/$1" | grep -F "$(printf '%s\t%s' "$2" "$3")" > /dev/null
}

build() { # GROUP MODULE VERSION LDFLAGS PROGRAM=PACKAGE...
  local group=$1 module=$2 version=$3 flags="-s -w $4" entered="" item program stamp started
  shift 4
  stamp=$({
    echo "$module $version $flags"
    cat "$HERE/src/$group"/*.go 2> /dev/null || true
  } | sha256sum)
  for item in "$@"; do
    program=${item%%=*}
    if [ -x "$BIN/$program" ]; then
      [ "$(cat "$BIN/.$program.stamp" 2> /dev/null)" != "$stamp" ] || continue
      if [ ! -f "$BIN/.$program.stamp" ] && [ -n "$module" ] && contains_release "$program" "$module" "$version"; then
        echo "$stamp" > "$BIN/.$program.stamp"
        continue
      fi
    fi
    [ -n "$entered" ] || enter_module "$group" "$module" "$version" "$([ "$group" != argo ] || argo_sources)"
    entered=yes started=$SECONDS
    go build -ldflags "$flags" -o "$BIN/$program" "${item#*=}" >> "$LOG/build-$group.log" 2>&1 || {
      say "the build of $program failed: $LOG/build-$group.log"
      tail -n 5 "$LOG/build-$group.log" >&2
      return 1
    }
    echo "$stamp" > "$BIN/.$program.stamp"
    say "built $program in $((SECONDS - started)) s"
  done
}

# A copy of Argo's module that compiles. Upstream's signal_linux.go is a symbolic link to signal_darwin.go, and module archives
# contain no links. `go build -overlay` refuses files of the module cache.
argo_sources() {
  local copy=$SRC/argo-module package=workflow/executor/osspecific
  rm -rf "$copy"
  cp -r "$(module_dir "$argo" "v$ARGO_WORKFLOWS")" "$copy"
  chmod -R u+w "$copy"
  cp "$copy/$package/signal_darwin.go" "$copy/$package/signal_linux.go"
  echo "$copy"
}

kube_version=k8s.io/component-base/version
kube_minor=${KUBERNETES#1.}
argo=github.com/argoproj/argo-workflows/v3
eventing=knative.dev/eventing
serving=knative.dev/serving
router=github.com/cloudnativelabs/kube-router/v2
kueue=sigs.k8s.io/kueue

[ $# -gt 0 ] || set -- etcd etcdctl etcdutl kube rigd coredns policies argo eventing serving
for group in "$@"; do
  case $group in
    etcd) build etcd go.etcd.io/etcd/server/v3 "v$ETCD" "" etcd=. ;;
    etcdctl | etcdutl) build $group go.etcd.io/etcd/$group/v3 "v$ETCD" "" $group=go.etcd.io/etcd/$group/v3 ;;
    kube)
      build kube k8s.io/kubernetes "v$KUBERNETES" "-X $kube_version.gitVersion=v$KUBERNETES -X $kube_version.gitMajor=1 \
-X $kube_version.gitMinor=${kube_minor%%.*} -X $kube_version.gitTreeState=clean" hyperkube=.
      for name in kubectl kube-apiserver kube-controller-manager kube-scheduler kubelet kube-proxy; do
        ln -sf hyperkube "$BIN/$name"
      done
      ;;
    coredns) build coredns github.com/coredns/coredns "v$COREDNS" "" coredns=. ;;
    rigd) build rigd "" "" "" rigd=. ;;
    policies) build policies $router "v$KUBE_ROUTER" "" kube-router=$router/cmd/kube-router ;;
    argo)
      build argo $argo "v$ARGO_WORKFLOWS" "-X $argo.version=v$ARGO_WORKFLOWS" \
        workflow-controller=$argo/cmd/workflow-controller argoexec=$argo/cmd/argoexec
      ;;
    eventing)
      build eventing $eventing "v$KNATIVE_EVENTING" "" \
        eventing-controller=$eventing/cmd/controller eventing-webhook=$eventing/cmd/webhook \
        mtchannel_broker=$eventing/cmd/mtchannel_broker \
        broker-ingress=$eventing/cmd/broker/ingress broker-filter=$eventing/cmd/broker/filter \
        imc-controller=$eventing/cmd/in_memory/channel_controller imc-dispatcher=$eventing/cmd/in_memory/channel_dispatcher
      ;;
    source) build eventing $eventing "v$KNATIVE_EVENTING" "" apiserver-adapter=$eventing/cmd/apiserver_receive_adapter ;;
    serving)
      build serving $serving "v$KNATIVE_SERVING" "" serving-queue=$serving/cmd/queue serving-activator=$serving/cmd/activator \
        serving-autoscaler=$serving/cmd/autoscaler serving-controller=$serving/cmd/controller serving-webhook=$serving/cmd/webhook
      ;;
    kueue) build kueue $kueue "v$KUEUE" "-X $kueue/pkg/version.GitVersion=v$KUEUE" kueue=$kueue/cmd/kueue ;;
    *)
      echo "build.sh knows no program $group" >&2
      exit 2
      ;;
  esac
done
