import { html } from 'hono/html';
import type { HtmlEscapedString } from 'hono/utils/html';
import type { ConsoleApp } from '../../../build/console.ts';

/** Returns the HTML document into which the front end renders. `server` is the name of the API server. */
export function documentOf(
  { script, style, theme, icon }: ConsoleApp,
  server: string,
): HtmlEscapedString | Promise<HtmlEscapedString> {
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>ARC</title>
<script src="${theme}"></script>
<link rel="stylesheet" href="${style}">
<link rel="modulepreload" href="${script}">
<link rel="icon" href="${icon}" type="image/svg+xml">
<script type="module" src="${script}"></script>
</head>
<body>
<div id="root" data-server="${server}"><noscript><main class="signed-out"><h1>ARC needs JavaScript</h1><p>Allow it for this site, or use <code>arcctl</code> in a terminal.</p></main></noscript></div>
</body>
</html>`;
}
