import { html } from 'hono/html';
import type { HtmlEscapedString } from 'hono/utils/html';
import { pageOf } from '../arcctl/console/server/page.ts';
import type { ConsoleApp } from '../build/console.ts';

interface SignInPage {
  front: ConsoleApp;
  /** Host of the issuer; undefined if sign-in is by token only. */
  issuer: string | undefined;
  /** Path to redirect to after the sign-in. */
  to: string;
  /** Why the last attempt failed; empty before the first attempt. */
  problem: string;
}

/** Returns the sign-in page, which works without JavaScript. */
export function signInPage({
  front,
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
  return pageOf(front, {
    title: 'Sign in · ARC',
    body: html`<main class="sign-in">
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
</main>`,
  });
}
