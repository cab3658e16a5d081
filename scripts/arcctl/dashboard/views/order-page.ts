import { html } from 'hono/html';
import { printable, printableLines } from '#shared/base/errors';
import { artifactWorkflows, type KubeEvent, parseProgress } from '#shared/domain';
import { type Key, query } from '#shared/kubernetes/client';
import { orderActions } from '../../core/order-actions.ts';
import { type Pace, paceText } from '../../model/pace.ts';
import type { Minute } from '../../model/throughput.ts';
import { type ArtifactNode, type OrderTree, type VersionNode, whyOf } from '../../model/tree.ts';
import { percentOf } from '../../model/tree-rows.ts';
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
import { throughput } from './throughput.ts';

const pageSize = 100;
const mostVersions = 10;
const mostEvents = 100;
const phases = ['Pending', 'Queued', 'Running', 'Succeeded', 'Failed', 'Cancelled', 'Invalid'];

export interface OrderView {
  tree: OrderTree;
  minutes: readonly Minute[];
  /** Of the Order and its ArtifactWorkflows, in any order. */
  events: readonly KubeEvent[];
  problems: readonly string[];
  /** Names of what was asked for a moment ago. */
  done: string | undefined;
  filters: { phase?: string | undefined; page?: string | undefined };
  paceOf(artifact: ArtifactNode): Pace | undefined;
}

/** An Order with its artifacts, what may be done with it, and what happened to it. */
export function orderPage(view: OrderView): Page {
  const { tree, minutes, events, problems, done, filters, paceOf } = view;
  const { namespace, name, phase, message, artifacts } = tree;
  const key = { namespace, name };
  const found = artifacts.filter((artifact) => !filters.phase || artifact.phase === filters.phase);
  const slice = sliceOf(found, filters.page, pageSize);
  const asked = orderActions.find((action) => action.name === done);
  return {
    title: `Order ${namespace}/${name}`,
    main: html`<h1>Order ${namespace}/${name}</h1>
${asked ? html`<p class="notice" role="status">${name}: ${asked.done}</p>` : ''}
${problems.map(notice)}
<p id="summary" aria-live="polite">${phaseMark(phase)} ${countText(
      'artifact',
      artifacts.map((each) => each.phase),
    )}</p>
${message === '' ? '' : html`<p class="message">${printableLines(message)}</p>`}
<ul class="actions" aria-label="Actions">
${orderActions.map((action) => html`<li><a class="button" href="${orderPath(key, `/${action.name}`)}">${action.name}&hellip;</a></li>`)}
<li><a class="button" href="${orderPath(key, '/manifest')}">manifest</a></li>
</ul>
<h2>Artifacts</h2>
<form method="get" action="${orderPath(key)}">${choice('phase', 'Phase', phases, filters.phase)}<button>Filter</button></form>
${found.length === 0 ? html`<p>No artifacts found.</p>` : artifactTable(key, slice.shown, paceOf)}
${pager(slice, orderPath(key), { phase: filters.phase })}
${tree.left.length === 0 ? '' : html`<h2>No longer in the Order</h2><ul>${tree.left.slice(0, pageSize).map(versionItem)}</ul>`}
<h2>Throughput</h2>
${throughput(minutes)}
<h2>Log</h2>
<details class="follow" id="log"><summary>Follow what the workers say</summary>
<pre tabindex="0" role="log" aria-label="Log" data-follow="/follow${orderPath(key)}">It comes by script. Without, each artifact has a link to its log.</pre></details>
<h2>Timeline</h2>
${timeline(events)}`,
  };
}

function artifactTable(key: Key, shown: readonly ArtifactNode[], paceOf: OrderView['paceOf']): Html {
  return html`<div class="wide" tabindex="0" role="region" aria-label="Artifacts"><table>
<caption>Times are in UTC.</caption>
<thead><tr><th scope="col">Artifact</th><th scope="col">Way</th><th scope="col">Phase</th><th scope="col">Why</th><th scope="col">Since</th><th scope="col">Actions</th></tr></thead>
<tbody>${shown.map((artifact) => artifactRow(key, artifact, paceOf(artifact)))}</tbody>
</table></div>`;
}

function artifactRow(key: Key, artifact: ArtifactNode, pace: Pace | undefined): Html {
  const { index, name, type, source, destination, phase, reason, message, since, digest } = artifact;
  return html`<tr id="artifact-${index}">
<th scope="row">${printable(name)} <span class="quiet">${printable(type)}</span></th>
<td>${printable(source || '?')} &rarr; ${printable(destination || '?')}</td>
<td>${phaseMark(phase)}${phase === 'Running' ? progressBar(artifact, pace) : ''}</td>
<td class="said">${reason === '' ? '' : html`<strong>${printable(reason)}</strong> `}${printableLines(message)}${digest === '' ? '' : html` <code>${printable(digest)}</code>`}${versionList(artifact)}</td>
<td>${timeOf(since)}</td>
<td>${artifactActions(key, artifact)}</td>
</tr>
`;
}

function progressBar({ name, progress }: ArtifactNode, pace: Pace | undefined): Html {
  const known = parseProgress(progress);
  if (!known) return html``;
  const percent = percentOf(progress);
  const rate = pace ? `, ${paceText(pace, progress)}` : '';
  return html`<br><progress value="${known.done}" max="${known.total}" aria-label="progress of ${printable(name)}">${percent}</progress> ${percent}${rate}`;
}

function versionList({ index, versions }: ArtifactNode): Html {
  if (versions.length < 2) return html``;
  return html`<details id="versions-${index}"><summary>${versions.length} versions</summary><ul>${versions.slice(0, mostVersions).map(versionItem)}</ul></details>`;
}

function versionItem(version: VersionNode): Html {
  const { name, revision, inForce, phase } = version;
  const why = whyOf(version);
  return html`<li>${phaseMark(phase)} ${name}, revision ${revision}${inForce ? ', in force' : ''}${why === '' ? '' : `: ${printable(why)}`}</li>`;
}

function artifactActions(key: Key, { index, name, phase, versions }: ArtifactNode): Html {
  const current = versions.find(({ inForce }) => inForce);
  const isOver = ['Succeeded', 'Failed', 'Cancelled', 'Invalid'].includes(phase);
  const offered = orderActions.filter(
    ({ name: verb, kinds }) =>
      current !== undefined &&
      kinds.includes(artifactWorkflows) &&
      (verb === 'cancel' ? !isOver : ['Failed', 'Cancelled'].includes(phase)),
  );
  const link = (verb: string) =>
    html`<a href="${orderPath(key, `/${verb}`)}${query({ artifact: current?.name })}" aria-label="${verb} ${printable(name)}">${verb}&hellip;</a> `;
  const log = html`<a href="${orderPath(key, `/log/${index}`)}" aria-label="log of ${printable(name)}">log</a>`;
  return html`${offered.map((action) => link(action.name))}${current ? log : ''}`;
}

function timeline(events: readonly KubeEvent[]): Html {
  if (events.length === 0) return html`<p>No Events. A cluster keeps them for an hour.</p>`;
  const sorted = events.toSorted((a, b) => (momentOf(a) < momentOf(b) ? 1 : -1));
  const hidden = sorted.length - mostEvents;
  return html`<ol reversed>${sorted.slice(0, mostEvents).map(eventItem)}</ol>
${hidden > 0 ? html`<p class="quiet">and ${hidden} earlier</p>` : ''}`;
}

function eventItem(event: KubeEvent): Html {
  const { involvedObject, type = 'Normal', reason = '', message = '', count = 1, metadata } = event;
  const times = count > 1 ? ` (${count} times)` : '';
  return html`<li id="event-${metadata.uid ?? metadata.name}">${timeOf(momentOf(event))} <span class="${type === 'Warning' ? 'bad' : 'quiet'}">${type}</span> <strong>${printable(reason)}</strong> ${involvedObject.kind ?? ''} ${involvedObject.name ?? ''}: ${printable(message)}${times}</li>`;
}

function momentOf({ lastTimestamp, firstTimestamp, metadata }: KubeEvent): string {
  return lastTimestamp ?? firstTimestamp ?? metadata.creationTimestamp ?? '';
}
