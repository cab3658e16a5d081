import { stringify } from 'yaml';
import { writeAtomically } from './state-files.ts';

/** Writes a kubeconfig for one user of one server; it contains a token, so only its owner can read it. */
export async function writeKubeconfig(
  file: string,
  access: { server: string; ca: string; token: string },
): Promise<void> {
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'arc',
    clusters: [
      {
        name: 'arc',
        cluster: {
          server: access.server,
          'certificate-authority-data': Buffer.from(access.ca).toString('base64'),
        },
      },
    ],
    users: [{ name: 'admin', user: { token: access.token } }],
    contexts: [{ name: 'arc', context: { cluster: 'arc', user: 'admin', namespace: 'default' } }],
  };
  await writeAtomically(file, stringify(config));
}
