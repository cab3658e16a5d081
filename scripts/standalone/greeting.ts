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
  return `ARC is running at ${url}, with its state in ${folder}
It listens on loopback only. Workflow steps run as plain processes of your user and are not isolated.

Dashboard (anyone with this URL has access): ${dashboard}

In another terminal, in this folder:

  export KUBECONFIG=${path.isAbsolute(exported) ? exported : `$PWD/${exported}`}
${firstOrder === undefined ? placeholders : ownOrder(shown(firstOrder.file), firstOrder.namespace)}

Ctrl-C stops it; accepted Orders continue at the next start.`;
}

const ownOrder = (file: string, namespace: string) => `  kubectl apply -f ${file}
  kubectl wait -n ${namespace} --for=condition=Ready order/first --timeout=1m
  kubectl get orders -n ${namespace} -o wide

The Order copies an image between two in-memory registries of this process; the file contains their URLs.`;

const placeholders = isSea()
  ? `
To see a first Order succeed, use \`${startCommand} --with-registry\`, which starts two registries.`
  : `  kubectl apply -f knative/examples/order.yaml
  kubectl get orders -n demo -o wide

The registries in that file are placeholders: enter your own. To see a first Order succeed, use
\`${startCommand} --with-registry\`, which starts two registries.`;
