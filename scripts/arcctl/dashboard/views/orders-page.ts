import { html } from 'hono/html';
import { printable } from '#shared/base/errors';
import type { Order } from '#shared/domain';
import { firstLine } from '../../model/tree-rows.ts';
import {
  choice,
  countText,
  type Html,
  notice,
  orderPath,
  type Page,
  pager,
  phaseMark,
  sliceOf,
  timeOf,
} from './parts.ts';

const pageSize = 50;
const phases = ['Pending', 'Running', 'Succeeded', 'Failed', 'Cancelled', 'Suspended', 'Scheduled'];

/** What is asked of a list, as it stands in its address. */
export interface OrderFilters {
  namespace?: string | undefined;
  phase?: string | undefined;
  name?: string | undefined;
  page?: string | undefined;
}

/** All Orders that the filters let through, the newest first. */
export function ordersPage(all: readonly Order[], filters: OrderFilters, problem: string | undefined): Page {
  const { namespace, phase, name, page } = filters;
  const found = all
    .filter(
      (order) =>
        (!namespace || order.metadata.namespace === namespace) &&
        (!phase || phaseOfOrder(order) === phase) &&
        (!name || order.metadata.name.includes(name)),
    )
    .sort(newestFirst);
  const slice = sliceOf(found, page, pageSize);
  const namespaces = [...new Set(all.map((order) => order.metadata.namespace ?? ''))].sort();
  return {
    title: 'Orders',
    main: html`<h1>Orders</h1>
${problem === undefined ? '' : notice(problem)}
<form method="get" action="/">
${choice('namespace', 'Namespace', namespaces, namespace)}
${choice('phase', 'Phase', phases, phase)}
<label>Name has<input type="search" name="name" value="${name ?? ''}" maxlength="253"></label>
<button>Filter</button>
</form>
<p id="summary" aria-live="polite">${countText('Order', found.map(phaseOfOrder))}</p>
${found.length === 0 ? html`<p>No Orders found.</p>` : table(slice.shown)}
${pager(slice, '/', { namespace, phase, name })}`,
  };
}

function table(shown: readonly Order[]): Html {
  return html`<div class="wide" tabindex="0" role="region" aria-label="Orders"><table>
<caption>The newest first. Times are in UTC.</caption>
<thead><tr><th scope="col">Order</th><th scope="col">Namespace</th><th scope="col">Phase</th><th scope="col">Artifacts</th><th scope="col">What it says</th><th scope="col">Created</th></tr></thead>
<tbody>${shown.map(row)}</tbody>
</table></div>`;
}

function row(order: Order): Html {
  const { namespace = '', name, uid = '', creationTimestamp } = order.metadata;
  return html`<tr id="order-${uid}">
<th scope="row"><a href="${orderPath({ namespace, name })}">${name}</a></th>
<td>${namespace}</td>
<td>${phaseMark(phaseOfOrder(order))}</td>
<td>${progressOf(order)}</td>
<td class="said">${printable(firstLine(order.status?.message ?? ''))}${waits(order)}</td>
<td>${timeOf(creationTimestamp)}</td>
</tr>
`;
}

function progressOf(order: Order): Html {
  const { counts } = order.status ?? {};
  const total = counts?.total ?? order.spec.artifacts?.length ?? 0;
  const arrived = counts?.succeeded ?? 0;
  const bad = (counts?.failed ?? 0) + (counts?.invalid ?? 0);
  const said = `${arrived} of ${total}${bad > 0 ? `, ${bad} not well` : ''}`;
  return html`<progress value="${arrived}" max="${Math.max(1, total)}" aria-label="arrived">${said}</progress> ${said}`;
}

/** What its artifacts wait for: each reason once, with how many. */
function waits({ status }: Order): Html {
  const held = Object.values(status?.artifactWorkflows ?? {}).filter(
    (entry) => entry.reason !== undefined && ['Pending', 'Queued', 'Invalid'].includes(entry.phase),
  );
  const reasons = [...Map.groupBy(held, ({ reason }) => reason ?? '')].slice(0, 5);
  return reasons.length === 0
    ? html``
    : html`<br><span class="quiet">${reasons.map(([reason, some]) => `${reason} (${some.length})`).join(', ')}</span>`;
}

function phaseOfOrder({ status }: Order): string {
  return status?.phase ?? 'Pending';
}

function newestFirst(a: Order, b: Order): number {
  const [first, second] = [a.metadata.creationTimestamp ?? '', b.metadata.creationTimestamp ?? ''];
  if (first !== second) return first < second ? 1 : -1;
  return a.metadata.name < b.metadata.name ? -1 : 1;
}
