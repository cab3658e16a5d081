import type { Bound, Client, RawResponse } from './client.ts';
import type { Scenario, Step } from './scenario.ts';

/** What one server answered to one step, with the names that stood for values of its own at that time. */
export interface Answer extends RawResponse {
  variables: Readonly<Record<string, string>>;
}

/** Sends every step of a scenario to one server, in order. A step that a lost capture makes senseless is sent as it is. */
export async function runScenario(client: Client, scenario: Scenario, namespace: string): Promise<Answer[]> {
  const variables: Record<string, string> = { ns: namespace, group: client.server.group };
  const answers: Answer[] = [];
  for (const step of scenario.steps) answers.push(await runStep(client, step, variables));
  return answers;
}

async function runStep(client: Client, step: Step, variables: Record<string, string>): Promise<Answer> {
  const { as = 'admin', watch } = step;
  const bound: Bound | undefined = watch && {
    lines: watch.lines,
    async during() {
      for (const inner of watch.during ?? []) await runStep(client, inner, variables);
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
  const response = await client.send({ method: step.method, path, headers, body }, bound);
  for (const [name, at] of Object.entries(step.capture ?? {})) {
    variables[name] = valueAt(response.text, at) ?? `missing-${name}`;
  }
  return { ...response, variables: { ...variables } };
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
