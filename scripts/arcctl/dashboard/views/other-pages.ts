import { html } from 'hono/html';
import { printable, printableLines } from '#shared/base/errors';
import type { Endpoint } from '#shared/domain';
import type { Key } from '#shared/kubernetes/client';
import type { OrderAction } from '../../core/order-actions.ts';
import {
  conditionMark,
  countText,
  type Html,
  notice,
  orderPath,
  type Page,
  pager,
  sliceOf,
  timeOf,
} from './parts.ts';

const pageSize = 100;

/** Endpoints with what their last probe has found. */
export function endpointsPage(
  all: readonly Endpoint[],
  page: string | undefined,
  problem: string | undefined,
): Page {
  const nameOf = ({ metadata }: Endpoint) => `${metadata.namespace}/${metadata.name}`;
  const slice = sliceOf(
    all.toSorted((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1)),
    page,
    pageSize,
  );
  return {
    title: 'Endpoints',
    main: html`<h1>Endpoints</h1>
${problem === undefined ? '' : notice(problem)}
<p id="summary" aria-live="polite">${countText('Endpoint', all.map(standingOf))}</p>
${all.length === 0 ? html`<p>No Endpoints found.</p>` : endpointTable(slice.shown)}
${pager(slice, '/endpoints', {})}`,
  };
}

function standingOf({ status }: Endpoint): string {
  const ready = status?.conditions?.find(({ type }) => type === 'Ready')?.status;
  return ready === 'True' ? 'ready' : ready === 'False' ? 'not ready' : 'not known';
}

function endpointTable(shown: readonly Endpoint[]): Html {
  return html`<div class="wide" tabindex="0" role="region" aria-label="Endpoints"><table>
<caption>By namespace and name. Times are in UTC.</caption>
<thead><tr><th scope="col">Endpoint</th><th scope="col">Namespace</th><th scope="col">Server</th><th scope="col">Use</th><th scope="col">Conditions</th><th scope="col">Last probe</th></tr></thead>
<tbody>${shown.map(endpointRow)}</tbody>
</table></div>`;
}

function endpointRow({ metadata, spec, status = {} }: Endpoint): Html {
  const { conditions = [], lastProbeTime, inFlight = [] } = status;
  const slots = spec.maxInFlight === undefined ? '' : `, ${inFlight.length} of ${spec.maxInFlight} transfers`;
  return html`<tr id="endpoint-${metadata.uid ?? ''}">
<th scope="row">${metadata.name}</th>
<td>${metadata.namespace ?? ''}</td>
<td>${printable(spec.remoteURL)} <span class="quiet">${printable(spec.type)}</span></td>
<td>${spec.usage ?? 'All'}${slots}</td>
<td class="said"><ul>${conditions.map(({ type, status: is, reason, message }) => html`<li>${printable(type)}: ${conditionMark(type, is)} ${printable(reason)}${message === '' ? '' : `: ${printable(message)}`}</li>`)}</ul></td>
<td>${timeOf(lastProbeTime)}</td>
</tr>
`;
}

/** Asks before something is done. It is a page, so that it needs no script. */
export function confirmPage(
  { name: verb, description }: OrderAction,
  key: Key,
  artifact: string | undefined,
  csrf: string,
): Page {
  const object =
    artifact === undefined ? `Order ${key.namespace}/${key.name}` : `ArtifactWorkflow ${artifact}`;
  return {
    title: `${verb} ${object}?`,
    main: html`<h1>${verb} ${object}?</h1>
<p>${description}.</p>
<form method="post" action="${orderPath(key, `/${verb}`)}">
<input type="hidden" name="csrf" value="${csrf}">
${artifact === undefined ? '' : html`<input type="hidden" name="artifact" value="${artifact}">`}
<button>Yes, ${verb}</button>
<a class="button" href="${orderPath(key)}">No, go back</a>
</form>`,
  };
}

/** A long text of an Order: its manifest, a log. */
export function textPage(title: string, key: Key, parts: readonly { head: string; text: string }[]): Page {
  return {
    title,
    main: html`<h1>${title}</h1>
<p><a href="${orderPath(key)}">Back to the Order</a></p>
${parts.map(({ head, text }) => html`<h2>${head}</h2><pre tabindex="0" role="region" aria-label="${head}">${printableLines(text)}</pre>`)}`,
  };
}

export function problemPage(title: string, message: string): Page {
  return { title, main: html`<h1>${title}</h1><p>${printableLines(message)}</p>` };
}
