import { execFileSync, spawnSync } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { expect, it } from 'vitest';
import { parse } from 'yaml';
import { isRecord, type KubeObject } from '#shared/base/meta';
import { endpointConditions } from '#shared/domain';
import { endpoint } from '../../shared/domain/testing/objects.ts';
import { reachedStates } from '../chaos/model/states.ts';

/** Debian's package of that name. */
const lua = 'lua5.4';
const hasLua = spawnSync(lua, ['-v']).status === 0;
if (!hasLua && process.env.CI) throw new Error(`install the package ${lua}`);

/** What each phase means in the words of Argo CD. */
const meanings: Readonly<Record<string, string>> = {
  Pending: 'Progressing',
  Queued: 'Progressing',
  Running: 'Progressing',
  Suspended: 'Suspended',
  Cancelled: 'Suspended',
  Succeeded: 'Healthy',
  Active: 'Healthy',
  Scheduled: 'Healthy',
  Failed: 'Degraded',
  Error: 'Degraded',
  Stopped: 'Degraded',
};

interface Status {
  phase?: string;
  observedGeneration?: number;
  conditions?: { type: string; status: string }[];
}

function meaning({ kind, metadata, status = {} }: KubeObject): string | undefined {
  const { phase = 'Pending', observedGeneration, conditions = [] } = status as Status;
  if (observedGeneration !== metadata.generation) return 'Progressing';
  if (kind !== 'Endpoint') return meanings[phase];
  const ready = conditions.find(({ type }) => type === 'Ready')?.status ?? 'True';
  return { True: 'Healthy', False: 'Degraded', Unknown: 'Progressing' }[ready];
}

function literal(value: unknown): string {
  if (value === null || value === undefined) return 'nil';
  if (Array.isArray(value)) return `{${value.map(literal).join(',')}}`;
  if (isRecord(value)) {
    const fields = Object.entries(value).map(([name, field]) => `[${literal(name)}]=${literal(field)}`);
    return `{${fields.join(',')}}`;
  }
  if (typeof value !== 'string') return String(value);
  const bytes = [...Buffer.from(value)].map((byte) => `\\x${byte.toString(16).padStart(2, '0')}`);
  return `"${bytes.join('')}"`;
}

it.skipIf(!hasLua)('the health checks for Argo CD read every state as we mean it', async () => {
  const { data } = parse(await readFile('knative/examples/argo-cd-health.yaml', 'utf8'));
  const scripts = new Map<string, string>(
    ['Order', 'ArtifactWorkflow', 'Endpoint'].map((kind) => [
      kind,
      data[`resource.customizations.health.arc.opendefense.cloud_${kind}`],
    ]),
  );
  const good = { status: 'True', reason: 'Valid', message: 'good' } as const;
  const probed = (['True', 'False', 'Unknown'] as const).map((status) => {
    const findings = { validated: good, reachable: { ...good, status }, authenticated: good };
    const conditions = endpointConditions(endpoint('one'), findings, new Date(0));
    return { ...endpoint('one'), status: { observedGeneration: 1, conditions } } as KubeObject;
  });
  // Argo CD asks no script about what is being deleted.
  const states = [...(await reachedStates()).values(), ...probed].filter(
    ({ metadata }) => metadata.deletionTimestamp === undefined,
  );
  const program = states.map((object) => {
    const script = scripts.get(object.kind) ?? '';
    return `do local health = (function(obj) ${script} end)(${literal(object)}) print(health.status .. " " .. type(health.message)) end`;
  });
  const lines = execFileSync(lua, ['-'], { input: program.join('\n'), encoding: 'utf8' })
    .trim()
    .split('\n');
  expect(states.length).toBeGreaterThan(30);
  const table = (said: (at: number) => string | undefined) =>
    states.map(({ kind, status }, at) => `${kind} ${JSON.stringify(status)}: ${said(at)}`);
  expect(table((at) => lines[at])).toEqual(table((at) => `${meaning(states[at] as KubeObject)} string`));
});
