import path from 'node:path';

/** Where a standalone runs, as its user has to know it. */
export interface Address {
  url: string;
  /** Of its state, as it was given. */
  folder: string;
  /** The absolute path of the kubeconfig. */
  kubeconfig: string;
  /** Of the dashboard, with its token. */
  dashboard: string;
}

/** What `npm start` prints once it is ready. The commands work as printed in `cwd`; greeting.test.ts runs them. */
export function greeting({ url, folder, kubeconfig, dashboard }: Address, cwd: string): string {
  const relative = path.relative(cwd, kubeconfig);
  return `ARC is running at ${url}, its state is in ${folder}
It listens on loopback only, and the steps of its workflows run as plain processes of your user: they are not isolated.

Its dashboard, for whoever has this address: ${dashboard}

In another terminal, in this folder:

  export KUBECONFIG=${relative.startsWith('..') ? kubeconfig : `$PWD/${relative}`}
  kubectl apply -f knative/workflow-templates/oci-image.yaml
  kubectl apply -f knative/base/artifact-types/oci.yaml -f knative/base/artifact-types/helm.yaml
  kubectl apply -f knative/examples/order.yaml
  kubectl get orders -n demo -o wide

The registries in that file are placeholders: its artifacts fail, and their messages say so, until you put your own in.
\`npm run demo -- --keep\` shows an Order that succeeds, with two registries of its own.

Ctrl-C ends it; what it accepted goes on at the next start.`;
}
