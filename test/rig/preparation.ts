import path from 'node:path';

/** The releases that versions.env names. */
export type Versions = Readonly<Record<string, string>>;

/** Reads lines `NAME=VERSION`; other lines are comments. */
export function readVersions(text: string): Versions {
  return Object.fromEntries([...text.matchAll(/^(\w+)=(\S+)$/gm)].map(([, name, value]) => [name, value]));
}

/** The release under which Knative publishes `knative.dev/serving` or `eventing` 0.N.P: 1.(N-27).P. */
export function knativeRelease(moduleVersion: string): string {
  const [, minor, patch] = moduleVersion.split('.');
  return `1.${Number(minor) - 27}.${patch}`;
}

/** Returns the arguments of each kubectl command that prepares a cluster, in order. */
export function preparation(versions: Versions, { certManager = false } = {}): string[][] {
  const version = (name: string): string => {
    const found = versions[name];
    if (found === undefined) throw new Error(`versions.env does not say ${name}=VERSION`);
    return found;
  };
  const serving = published('knative/serving', `knative-v${knativeRelease(version('KNATIVE_SERVING'))}`);
  const eventing = published('knative/eventing', `knative-v${knativeRelease(version('KNATIVE_EVENTING'))}`);
  const kourier = published('knative-extensions/net-kourier', `knative-v${version('KOURIER')}`);
  const argo = published('argoproj/argo-workflows', `v${version('ARGO_WORKFLOWS')}`);
  const issuer = published('cert-manager/cert-manager', `v${version('CERT_MANAGER')}`);
  return [
    apply(path.join(import.meta.dirname, 'manifests/argo-namespace.yaml')),
    ['--namespace', 'argo', ...apply(argo('install.yaml'))],
    apply(serving('serving-crds.yaml')),
    apply(eventing('eventing-crds.yaml')),
    ['wait', '--for=condition=Established', '--timeout=60s', 'crd', '--all'],
    apply(serving('serving-core.yaml')),
    apply(kourier('kourier.yaml')),
    apply(eventing('eventing-core.yaml')),
    available('knative-serving'),
    available('knative-eventing'),
    // Their objects need the webhooks of Serving and Eventing.
    configureServing('config-network', [
      '--patch',
      '{"data":{"ingress-class":"kourier.ingress.networking.knative.dev"}}',
    ]),
    configureServing('config-autoscaler', [
      '--patch-file',
      path.join(import.meta.dirname, 'manifests/short-windows.yaml'),
    ]),
    apply(eventing('in-memory-channel.yaml')),
    apply(eventing('mt-channel-broker.yaml')),
    available('knative-eventing'),
    available('kourier-system'),
    available('argo'),
    ...(certManager ? [apply(issuer('cert-manager.yaml')), available('cert-manager')] : []),
  ];
}

function published(repository: string, tag: string): (file: string) => string {
  return (file) => `https://github.com/${repository}/releases/download/${tag}/${file}`;
}

/** Server-side: the CRDs are too large for the annotation of a client-side apply. */
function apply(file: string): string[] {
  return ['apply', '--server-side', '--force-conflicts', '--filename', file];
}

function available(namespace: string): string[] {
  return [
    '--namespace',
    namespace,
    'wait',
    '--for=condition=Available',
    '--timeout=300s',
    'deployment',
    '--all',
  ];
}

function configureServing(name: string, patch: string[]): string[] {
  return ['--namespace', 'knative-serving', 'patch', 'configmap', name, '--type=merge', ...patch];
}
