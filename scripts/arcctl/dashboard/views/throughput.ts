import { html } from 'hono/html';
import { bytesText } from '#shared/base/errors';
import { type Minute, shownMinutes } from '../../model/throughput.ts';
import { type Html, notice, type Page } from './parts.ts';

/** What all Orders that are shown have moved. */
export function throughputPage(minutes: readonly Minute[], problem: string | undefined): Page {
  return {
    title: 'Throughput',
    main: html`<h1>Throughput</h1>
${problem === undefined ? '' : notice(problem)}
${throughput(minutes)}`,
  };
}

/** Two charts, and their figures as a table for those who cannot see them. */
export function throughput(minutes: readonly Minute[]): Html {
  const busy = minutes.filter(({ bytes, arrived }) => bytes > 0 || arrived > 0);
  return html`<div class="charts">
${chart('Bytes', minutes, ({ bytes }) => bytes, bytesText)}
${chart('Artifacts that arrived', minutes, ({ arrived }) => arrived, String)}
</div>
${busy.length === 0 ? '' : figures(busy)}`;
}

const barWidth = 4;
const height = 48;

function chart(
  what: string,
  minutes: readonly Minute[],
  countOf: (minute: Minute) => number,
  textOf: (value: number) => string,
): Html {
  const values = minutes.map(countOf);
  const most = Math.max(...values);
  const total = values.reduce((sum, value) => sum + value, 0);
  const text = `${what} per minute, in the last ${shownMinutes} minutes: ${textOf(total)} in all${total === 0 ? '' : `, ${textOf(most)} at most`}`;
  const bar = (value: number, index: number) => {
    // What is little can be seen, too.
    const tall = value === 0 ? 0 : Math.max(1, Math.round((value / most) * height));
    return tall === 0
      ? ''
      : html`<rect x="${index * barWidth}" y="${height - tall}" width="${barWidth - 1}" height="${tall}"></rect>`;
  };
  const width = minutes.length * barWidth;
  return html`<figure><svg role="img" aria-label="${text}" viewBox="0 0 ${width} ${height + 1}" preserveAspectRatio="none">${values.map(bar)}<line x1="0" y1="${height}" x2="${width}" y2="${height}"></line></svg><figcaption>${text}</figcaption></figure>`;
}

function figures(busy: readonly Minute[]): Html {
  return html`<details id="figures"><summary>The figures</summary>
<table><caption>Minutes in which something moved, the newest first. Times are in UTC.</caption>
<thead><tr><th scope="col">Minute</th><th scope="col">Bytes</th><th scope="col">Arrived</th></tr></thead>
<tbody>${busy.toReversed().map(({ atMs, bytes, arrived }) => html`<tr id="minute-${atMs}"><th scope="row">${new Date(atMs).toISOString().slice(11, 16)}</th><td>${bytesText(bytes)}</td><td>${arrived}</td></tr>`)}</tbody>
</table></details>`;
}
