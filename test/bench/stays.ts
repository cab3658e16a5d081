import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { createLogger } from '#shared/base/telemetry';
import { writeStatus } from '#shared/conduit/function-kit';
import { type ArtifactWorkflow, artifactWorkflows, namespaces } from '#shared/domain';
import { inProcess } from '#shared/kubernetes/apiserver';
import { createKubeClient, createTransport } from '#shared/kubernetes/client';
import { openEmbeddedStore } from '#shared/kubernetes/storage';
import { createLiveLogs, createRbac, loadManifests } from '#shared/local';
import { composeApi } from '../../scripts/standalone/compose-api.ts';
import { loadIdentities } from '../../scripts/standalone/identities.ts';
import { artifactWorkflow } from '../../shared/domain/testing/objects.ts';
import { measureTouched, type Touched } from './measure/touched-code.ts';

const root = path.resolve(import.meta.dirname, '../..');
/** Requests of each kind before the one that is measured: what is made once per kind has been made. */
const warmUps = 20;

/**
 * Prints for each verb what one request of a function in the standalone touches, from the call of the client to its answer: the source files,
 * functions and calls of client, API server and store, and the bytes that they copy. `--files` adds the paths of the files.
 */
export async function benchStays(showFiles: boolean): Promise<void> {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'arc-stays-'));
  const store = await openEmbeddedStore({ folder: path.join(folder, 'store') });
  const identities = await loadIdentities(folder, ['admin', 'sync-status']);
  const roles = ['knative/base', 'scripts/standalone'].map((one) => loadManifests(path.join(root, one)));
  const api = composeApi({
    store,
    identities,
    rbac: createRbac((await Promise.all(roles)).flat()),
    settings: () => ({}),
    liveLogs: createLiveLogs(),
    log: createLogger({ name: 'bench', level: 'error' }),
  });
  const accessOf = (name: string) => ({
    ...{ server: 'https://127.0.0.1', fetch: inProcess(api), userAgent: `arc-${name}` },
    token: () => identities.tokenOf(name),
  });
  const admin = createKubeClient(accessOf('admin'));
  const transport = createTransport(accessOf('admin'));
  const client = createKubeClient(accessOf('sync-status'));
  const context = { api: client, signal: AbortSignal.timeout(600_000) };
  try {
    await admin.create(namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'bench' } });
    for (let index = 0; index < 100; index++) await admin.create(artifactWorkflows, workflow(`w-${index}`));
    const touched = await measureTouched();
    let at = 0;
    const key = { namespace: 'bench', name: 'w-0' };
    const verbs: Record<string, () => Promise<unknown>> = {
      get: () => client.get(artifactWorkflows, key),
      list: () => client.list(artifactWorkflows, { namespace: 'bench', limit: 100 }),
      create: () => admin.create(artifactWorkflows, workflow(`c-${++at}`)),
      status: async () => {
        const phase = ++at % 2 === 0 ? 'Running' : 'Pending';
        await writeStatus(context, artifactWorkflows, current, { phase, message: `step ${at}` });
      },
      apply: () =>
        transport.send({
          method: 'PATCH',
          path: `/apis/arc.opendefense.cloud/v1alpha1/namespaces/bench/artifactworkflows/w-1?fieldManager=bench&force=true`,
          contentType: 'application/apply-patch+yaml',
          body: { ...workflow('w-1'), metadata: { name: 'w-1', labels: { step: String(++at) } } },
        }),
      delete: () => admin.delete(artifactWorkflows, { namespace: 'bench', name: `c-${at--}` }),
    };
    let current = await admin.create(artifactWorkflows, workflow('status'));
    for (const [verb, run] of Object.entries(verbs)) {
      const prepare = async () => {
        const found = await client.get(artifactWorkflows, { namespace: 'bench', name: 'status' });
        if (found) current = found;
      };
      if (verb === 'delete') for (let count = 0; count <= warmUps; count++) await verbs.create?.();
      for (let count = 0; count < warmUps; count++) {
        await prepare();
        await run();
      }
      await prepare();
      const result = await touched(run);
      tell(verb, result, showFiles);
    }
  } finally {
    await api.close();
    await store.close();
    await rm(folder, { recursive: true, force: true });
  }
}

function tell(verb: string, { files, functions, calls, bytes }: Touched, showFiles: boolean): void {
  const folders = new Set(files.map((file) => path.dirname(file))).size;
  const server = files.filter((file) => file.startsWith('shared/kubernetes/apiserver/')).length;
  console.log(
    JSON.stringify({
      bench: 'api',
      case: `stays ${verb}`,
      files: files.length,
      ofServer: server,
      folders,
      functions,
      calls,
      bytesCopied: bytes,
      ...(showFiles && { paths: files }),
    }),
  );
}

function workflow(name: string): ArtifactWorkflow {
  return {
    ...artifactWorkflow(name),
    metadata: { name, namespace: 'bench', labels: { 'arc.opendefense.cloud/order': 'bench' } },
  };
}
