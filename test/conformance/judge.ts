import type { Client } from './client.ts';
import { compare, type Difference, type Explanation, explain } from './compare.ts';
import type { Scenario, Step } from './corpus/scenario.ts';
import { normalise } from './normalise.ts';
import { type Answer, runScenario } from './run.ts';

/** What became of one request of the corpus. */
export interface Verdict {
  /** `<scenario>/<name>`, or `<scenario> #<n>`, counted from 1, of a step without a name. */
  id: string;
  step: Step;
  differences: Difference[];
  /** The explanations that cover the differences; undefined if they do not. */
  explained: string[] | undefined;
}

/** Runs a scenario on both servers, in a namespace of its own, and compares the answers step by step. */
export async function judgeScenario(
  clients: { ours: Client; reference: Client },
  scenario: Scenario,
  namespace: string,
  explanations: readonly Explanation[],
): Promise<Verdict[]> {
  const answers = await Promise.all(
    [clients.ours, clients.reference].map(async (client) => {
      await createNamespace(client, namespace);
      return runScenario(client, scenario, namespace);
    }),
  );
  const [ours = [], reference = []] = answers;
  return scenario.steps.map((step, index) => {
    const id = step.name ? `${scenario.name}/${step.name}` : `${scenario.name} #${index + 1}`;
    const [mine, theirs] = [ours[index], reference[index]];
    if (!mine || !theirs) throw new Error(`${id} has no answer`);
    const differences = compare(normalise(picked(step, mine)), normalise(picked(step, theirs)));
    return { id, step, differences, explained: explain(id, differences, explanations) };
  });
}

function picked({ pick }: Step, answer: Answer): Answer {
  if (!pick || answer.code !== 200) return answer;
  const part = pick(JSON.parse(answer.text) as Record<string, unknown>, answer.variables.group ?? '');
  return { ...answer, text: JSON.stringify(part ?? null) };
}

/** A namespace of its own keeps what one scenario writes from the others. */
export async function createNamespace(client: Client, name: string): Promise<void> {
  const body = JSON.stringify({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
  const headers = {
    authorization: `Bearer ${client.server.tokens.admin}`,
    'content-type': 'application/json',
  };
  const { code, text } = await client.send({ method: 'POST', path: '/api/v1/namespaces', headers, body });
  if (code !== 201)
    throw new Error(`${client.server.name} did not create namespace ${name}: ${code} ${text}`);
}
