import path from 'node:path';
import { isSea } from 'node:sea';
import { startCommand } from './arguments.ts';

/** The addresses of a running standalone. */
export interface Address {
  url: string;
  /** The state folder, as given on the command line. */
  folder: string;
  /** The absolute path of the kubeconfig. */
  kubeconfig: string;
  /** The URL of the dashboard, with its token. */
  dashboard: string;
  /** An Order that copies between the standalone's own registries, if there are any. */
  firstOrder?: { file: string; namespace: string } | undefined;
}

/** Returns the output of `npm start`. The commands work as printed in `cwd`; greeting.test.ts runs them. */
export function greeting({ url, folder, kubeconfig, dashboard, firstOrder }: Address, cwd: string): string {
  const shown = (file: string) => {
    const relative = path.relative(cwd, file);
    return relative.startsWith('..') ? file : relative;
  };
  const exported = shown(kubeconfig);
  return `ARC is running at ${url}, its state is in ${folder}
It listens on loopback only, and the steps of its workflows run as plain processes of your user: they are not isolated.

Its dashboard, for whoever has this address: ${dashboard}

In another terminal, in this folder:

  export KUBECONFIG=${path.isAbsolute(exported) ? exported : `$PWD/${exported}`}
${firstOrder === undefined ? placeholders : ownOrder(shown(firstOrder.file), firstOrder.namespace)}

Ctrl-C ends it; what it accepted goes on at the next start.`;
}

const ownOrder = (file: string, namespace: string) => `  kubectl apply -f ${file}
  kubectl wait -n ${namespace} --for=condition=Ready order/first --timeout=1m
  kubectl get orders -n ${namespace} -o wide

It copies an image between two registries that this process keeps in memory; the file says where they are.`;

const placeholders = isSea()
  ? `
To see an Order succeed first, start with \`${startCommand} --with-registry\`, which brings two registries of its own.`
  : `  kubectl apply -f knative/examples/order.yaml
  kubectl get orders -n demo -o wide

The registries in that file are placeholders: put your own in. To see an Order succeed first, start with
\`${startCommand} --with-registry\`, which brings two registries of its own.`;
