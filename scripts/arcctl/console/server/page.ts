import { html } from 'hono/html';
import type { HtmlEscapedString } from 'hono/utils/html';
import type { ConsoleApp } from '../../../build/console.ts';

type Html = HtmlEscapedString | Promise<HtmlEscapedString>;

/** Returns an HTML document in the style of the console. `body`: the content of its body. */
export function pageOf(
  { style, theme, icon }: ConsoleApp,
  { title, head, body }: { title: string; head?: Html; body: Html },
): Html {
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title}</title>
<script src="${theme}"></script>
<link rel="stylesheet" href="${style}">
<link rel="icon" href="${icon}" type="image/svg+xml">
${head ?? ''}</head>
<body>
${body}
</body>
</html>`;
}

/** Returns the HTML document into which the front end renders. `server` is the name of the API server. */
export function documentOf(front: ConsoleApp, server: string): Html {
  const { script } = front;
  return pageOf(front, {
    title: 'ARC',
    head: html`<link rel="modulepreload" href="${script}">
<script type="module" src="${script}"></script>
`,
    body: html`<div id="root" data-server="${server}"><noscript><main class="signed-out"><h1>ARC needs JavaScript</h1><p>Allow it for this site, or use <code>arcctl</code> in a terminal.</p></main></noscript></div>`,
  });
}
