import type { Bound, Client, RawResponse } from './client.ts';
import type { Scenario, Step } from './corpus/scenario.ts';

/** What one server answered to one step, with the names that stood for values of its own at that time. */
export interface Answer extends RawResponse {
  variables: Readonly<Record<string, string>>;
  /** Those of the names that were captured from a list: its revision is that of the server, not of an object. */
  ofLists: ReadonlySet<string>;
}

/** What a scenario has captured so far on one server. */
interface Captured {
  variables: Record<string, string>;
  ofLists: Set<string>;
}

/** Sends every step of a scenario to one server, in order. A step that a lost capture makes senseless is sent as it is. */
export async function runScenario(client: Client, scenario: Scenario, namespace: string): Promise<Answer[]> {
  const captured: Captured = {
    variables: { ns: namespace, group: client.server.group },
    ofLists: new Set(),
  };
  const answers: Answer[] = [];
  for (const step of scenario.steps) answers.push(await runStep(client, step, captured));
  return answers;
}

async function runStep(client: Client, step: Step, captured: Captured): Promise<Answer> {
  const { as = 'admin', watch } = step;
  const { variables, ofLists } = captured;
  const bound: Bound | undefined = watch && {
    lines: watch.lines,
    async during() {
      for (const inner of watch.during ?? []) await runStep(client, inner, captured);
    },
  };
  const body = bodyOf(step, variables);
  const headers = {
    'user-agent': 'conformance/v1 (corpus)',
    accept: 'application/json',
    ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    ...(as === 'anonymous' ? {} : { authorization: `Bearer ${client.server.tokens[as]}` }),
    ...step.headers,
  };
  const path = fill(step.path, variables);
  if (as === 'admin' && mayComeLate(path)) await settle(client, path, headers);
  const response = await client.send({ method: step.method, path, headers, body }, bound);
  for (const [name, at] of Object.entries(step.capture ?? {})) {
    variables[name] = valueAt(response.text, at) ?? `missing-${name}`;
    if (valueAt(response.text, 'kind')?.endsWith('List')) ofLists.add(name);
    else ofLists.delete(name);
  }
  return { ...response, variables: { ...variables }, ofLists: new Set(ofLists) };
}

/** What a server may answer from a cache that lags behind what it has acknowledged. */
function mayComeLate(path: string): boolean {
  return /[?&](watch=true|resourceVersion=0)(&|$)/.test(path);
}

/** Waits until the cache has what was written: a list of the most recent state is answered from it. */
async function settle(client: Client, path: string, { authorization }: Record<string, string>) {
  const [collection = ''] = path.split('?');
  const headers = { accept: 'application/json', ...(authorization && { authorization }) };
  await client.send({ method: 'GET', path: collection, headers, body: undefined });
}

function bodyOf(step: Step, variables: Record<string, string>): string | Buffer | undefined {
  if (step.body === undefined) return undefined;
  if (Buffer.isBuffer(step.body)) return step.body;
  return fill(typeof step.body === 'string' ? step.body : JSON.stringify(step.body), variables);
}

/** Puts values in the place of `@{name}`; a name nobody has captured stays. */
export function fill(text: string, variables: Readonly<Record<string, string>>): string {
  return text.replaceAll(/@\{(\w+)\}/g, (whole, name: string) => variables[name] ?? whole);
}

function valueAt(text: string, path: string): string | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (caught) {
    if (caught instanceof SyntaxError) return undefined;
    throw caught;
  }
  for (const part of path.split('.')) {
    value =
      typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[part] : undefined;
  }
  return value === undefined ? undefined : String(value);
}
