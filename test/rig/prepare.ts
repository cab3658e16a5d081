/**
 * `npm run rig -- --context NAME`: installs Argo Workflows, Knative and an ingress on an existing cluster, with the manifests that the
 * projects publish for the releases of versions.env. For people with kind, k3d or a cluster of a cloud; safe to repeat.
 * `--cert-manager` installs cert-manager as well; `--dry-run` prints the commands.
 */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { preparation, readVersions } from './preparation.ts';

const usage = 'usage: npm run rig -- --context NAME [--cert-manager] [--dry-run]';

function main(): number {
  const { values } = parseArgs({
    options: {
      context: { type: 'string' },
      'cert-manager': { type: 'boolean', default: false },
      'dry-run': { type: 'boolean', default: false },
    },
  });
  // Never the current context: what is current may be a cluster in production.
  if (values.context === undefined) {
    console.error(`${usage}\nkubectl config get-contexts lists the contexts.`);
    return 2;
  }
  const versions = readVersions(readFileSync(path.join(import.meta.dirname, 'versions.env'), 'utf8'));
  for (const args of preparation(versions, { certManager: values['cert-manager'] })) {
    const command = ['--context', values.context, ...args];
    console.log(`kubectl ${command.join(' ')}`);
    if (values['dry-run']) continue;
    const { status, error } = spawnSync('kubectl', command, { stdio: 'inherit' });
    if (error) console.error(`kubectl cannot be started: ${error.message}`);
    if (status !== 0) return 1;
  }
  return 0;
}

process.exit(main());
