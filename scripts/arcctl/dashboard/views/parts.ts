import { html } from 'hono/html';
import type { HtmlEscapedString } from 'hono/utils/html';
import { type Key, query } from '#shared/kubernetes/client';

/** A piece of a page. What is put into it with ${} is escaped, unless it is a piece itself. */
export type Html = HtmlEscapedString | Promise<HtmlEscapedString>;

/** What a page shows between its header and its end. It is drawn again when something has changed. */
export interface Page {
  title: string;
  main: Html;
}

/** The whole document. `live`: where the changes of `main` come from; absent: it does not change by itself. */
export function documentOf({ title, main }: Page, server: string, live?: string): Html {
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title} - ARC</title>
<link rel="stylesheet" href="/style.css">
<link rel="icon" href="data:,">
${live === undefined ? '' : html`<script src="/live.js" defer></script>`}
</head>
<body>
<a class="skip" href="#main">Skip to the content</a>
<header>
<p><strong>ARC</strong> ${server}</p>
<nav aria-label="Pages"><ul><li>${pageLink('/', 'Orders', title)}</li><li>${pageLink('/endpoints', 'Endpoints', title)}</li><li>${pageLink('/throughput', 'Throughput', title)}</li></ul></nav>
<p id="live-state" role="status">${live === undefined ? '' : html`<noscript>Without script: reload to see changes</noscript>`}</p>
</header>
${mainOf(main, live)}
</body>
</html>`;
}

/** The part that the browser puts in place of the one it has. */
export function mainOf(main: Html, live?: string): Html {
  return live === undefined
    ? html`<main id="main" tabindex="-1">${main}</main>`
    : html`<main id="main" tabindex="-1" data-live="${live}">${main}</main>`;
}

function pageLink(href: string, name: string, title: string): Html {
  return title === name
    ? html`<a href="${href}" aria-current="page">${name}</a>`
    : html`<a href="${href}">${name}</a>`;
}

const looks: Readonly<Record<string, readonly [mark: string, style: string]>> = {
  Succeeded: ['✓', 'good'],
  Failed: ['✗', 'bad'],
  Error: ['✗', 'bad'],
  Invalid: ['✗', 'bad'],
  Running: ['▶', 'busy'],
  Cancelled: ['■', 'quiet'],
  Suspended: ['‖', 'quiet'],
};

/** A phase with a mark, so that its colour says nothing by itself. */
export function phaseMark(phase: string): Html {
  return marked(phase, phase);
}

/** The status of a condition. That nothing is Stalled is good. */
export function conditionMark(type: string, status: string): Html {
  const isGood = (status === 'True') !== (type === 'Stalled');
  return marked(status, status === 'Unknown' ? status : isGood ? 'Succeeded' : 'Failed');
}

function marked(text: string, phase: string): Html {
  const [mark, style] = looks[phase] ?? ['○', 'quiet'];
  return html`<span class="phase ${style}"><span aria-hidden="true">${mark}</span> ${text}</span>`;
}

/** A time as Kubernetes has it, in UTC. */
export function timeOf(text: string | undefined): Html {
  if (text === undefined || text === '') return html`<span class="quiet">-</span>`;
  return html`<time datetime="${text}">${text.replace('T', ' ').replace(/(\.\d+)?Z$/, '')}</time>`;
}

export function orderPath({ namespace = '', name }: Key, tail = ''): string {
  return `/orders/${encodeURIComponent(namespace)}/${encodeURIComponent(name)}${tail}`;
}

/** Something is not as it should be, and the page shows what it has. */
export function notice(text: string): Html {
  return html`<p class="notice">${text}</p>`;
}

/** One page of a list. */
export interface Slice<T> {
  shown: readonly T[];
  page: number;
  pages: number;
}

/** The part of a list that page `asked` has, from 1; the last one where there are not so many. */
export function sliceOf<T>(items: readonly T[], asked: string | undefined, size: number): Slice<T> {
  const pages = Math.max(1, Math.ceil(items.length / size));
  const wanted = /^\d{1,6}$/.test(asked ?? '') ? Number(asked) : 1;
  const page = Math.min(Math.max(1, wanted), pages);
  return { shown: items.slice((page - 1) * size, page * size), page, pages };
}

/** Links to the pages before and after; `filters` stay. */
export function pager(
  { page, pages }: Slice<unknown>,
  path: string,
  filters: Record<string, string | undefined>,
): Html {
  if (pages === 1) return html``;
  const to = (number: number) => `${path}${query({ ...filters, page: String(number) })}`;
  return html`<nav aria-label="Parts of the list"><ul>
${page > 1 ? html`<li><a rel="prev" href="${to(page - 1)}">Previous</a></li>` : ''}
<li>${page} of ${pages}</li>
${page < pages ? html`<li><a rel="next" href="${to(page + 1)}">Next</a></li>` : ''}
</ul></nav>`;
}

/** A field to choose from, with "all" as its first choice. */
export function choice(
  name: string,
  label: string,
  values: readonly string[],
  chosen: string | undefined,
): Html {
  const option = (value: string) =>
    value === chosen
      ? html`<option value="${value}" selected>${value}</option>`
      : html`<option value="${value}">${value}</option>`;
  return html`<label>${label}<select name="${name}"><option value="">all</option>${values.map(option)}</select></label>`;
}

/** `3 Orders: 1 Failed, 2 Running`. */
export function countText(what: string, phases: readonly string[]): string {
  const counts = [...Map.groupBy(phases, (phase) => phase)].map(([phase, some]) => `${some.length} ${phase}`);
  const head = `${phases.length} ${what}${phases.length === 1 ? '' : 's'}`;
  return counts.length === 0 ? head : `${head}: ${counts.sort().join(', ')}`;
}
