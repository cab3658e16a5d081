import { html } from 'hono/html';
import type { HtmlEscapedString } from 'hono/utils/html';
import type { ConsoleApp } from '../build/console.ts';

interface SignInPage {
  front: ConsoleApp;
  /** The host of the issuer; undefined where people sign in by token alone. */
  issuer: string | undefined;
  /** The address to go on to. */
  to: string;
  /** Why the last attempt failed; empty: there was none. */
  problem: string;
}

/** Asks who wants in. It needs no script. */
export function signInPage({
  front: { style, theme, icon },
  issuer,
  to,
  problem,
}: SignInPage): HtmlEscapedString | Promise<HtmlEscapedString> {
  const trouble = problem === '' ? '' : html`<p class="notice tone-bad" role="alert">${problem}</p>`;
  const bySignOn =
    issuer === undefined
      ? ''
      : html`<a class="button primary" href="/sign-in/oidc?to=${encodeURIComponent(to)}">Sign in with ${issuer}</a>
<p class="sign-in-or">or with a token</p>`;
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Sign in · ARC</title>
<script src="${theme}"></script>
<link rel="stylesheet" href="${style}">
<link rel="icon" href="${icon}" type="image/svg+xml">
</head>
<body>
<main class="sign-in">
<h1>Sign in to ARC</h1>
${trouble}
${bySignOn}
<form method="post" action="/sign-in">
<input type="hidden" name="to" value="${to}">
<label for="token">Token</label>
<div class="field"><input id="token" name="token" type="password" autocomplete="off" required aria-describedby="about"></div>
<p id="about">What you may see and do here is what the cluster allows this token, which stays in the memory of the console. One of a ServiceAccount:
<code>kubectl create token NAME -n NAMESPACE</code></p>
<button class="button${issuer === undefined ? ' primary' : ''}" type="submit">Sign in with a token</button>
</form>
</main>
</body>
</html>`;
}
