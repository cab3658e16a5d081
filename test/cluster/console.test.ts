import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import os from 'node:os';
import path from 'node:path';
import { type Browser, type Page, request } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createAuthority } from '../../shared/base/testing/authority.ts';
import { eventually } from '../../shared/base/testing/eventually.ts';
import { browserProgram, hasBrowser, openBrowser } from '../fixtures/browser.ts';
import { arcPath, type Cluster, describeCluster, startCluster } from '../fixtures/cluster/cluster.ts';
import { type Issuer, issuerClientId, startIssuer } from '../fixtures/issuer.ts';
import { freePorts, type Program, start } from '../fixtures/program.ts';

if (process.env.CI && !hasBrowser)
  throw new Error(`this machine lacks ${browserProgram}: install Chromium, or set ARC_CHROMIUM`);
const axe = createRequire(import.meta.url).resolve('axe-core/axe.min.js');
/** An ID token is renewed a minute before it expires: here ten seconds after it was given. */
const tokenSeconds = 70;

/** People of the issuer and accounts of the cluster, in the console of components/console, before a real kube-apiserver. */
describeCluster('the console of a cluster', (machine) => {
  if (!hasBrowser) return it.skip('needs Chromium', () => {});
  let folder: string;
  let issuer: Issuer;
  let cluster: Cluster;
  let origin: string;
  let program: Program;
  let browser: Browser;
  const problems: string[] = [];

  beforeAll(async () => {
    folder = await mkdtemp(path.join(os.tmpdir(), 'arc-console-'));
    const [port] = await freePorts(1);
    origin = `https://localhost:${port}`;
    const authority = await createAuthority('issuers');
    const file = (name: string) => path.join(folder, name);
    const { cert, key } = await authority.issue({ name: 'console' }, { hosts: ['localhost'], use: 'server' });
    for (const [name, text] of Object.entries({ 'ca.crt': authority.cert, 'tls.crt': cert, 'tls.key': key }))
      await writeFile(file(name), text, { mode: 0o600 });
    issuer = await startIssuer({
      authority,
      redirectUri: `${origin}/sign-in/callback`,
      people: { ann: ['movers'], vic: ['watchers'], eve: [] },
      seconds: tokenSeconds,
    });
    cluster = await startCluster(machine, { store: 'embedded' }, [
      ...[`--oidc-issuer-url=${issuer.url}`, `--oidc-client-id=${issuerClientId}`],
      ...[`--oidc-ca-file=${file('ca.crt')}`, '--oidc-username-claim=sub', '--oidc-username-prefix=oidc:'],
      ...['--oidc-groups-claim=groups', '--oidc-groups-prefix=oidc:'],
    ]);
    await fill();
    program = start(process.execPath, ['scripts/console/main.ts'], {
      ...process.env,
      ...{ ARC_CONSOLE_URL: origin, ARC_BIND_ADDRESS: '127.0.0.1', PORT: '0', ARC_TLS_PORT: String(port) },
      ...{ ARC_TLS_CERT_FILE: file('tls.crt'), ARC_TLS_KEY_FILE: file('tls.key') },
      ...{ ARC_API_SERVER: cluster.plane.url, ARC_CA_FILE: `${cluster.plane.folder}/pki/ca.crt` },
      ...{ ARC_OIDC_ISSUER: issuer.url, ARC_OIDC_CLIENT_SECRET: issuer.clientSecret },
      NODE_EXTRA_CA_CERTS: file('ca.crt'),
    });
    await eventually('the console to serve', 120_000, () => {
      program.mustRun();
      expect(program.output.stdout).toContain('"msg":"serving"');
    });
    browser = await openBrowser();
  }, 240_000);

  afterAll(async () => {
    await browser?.close();
    await program?.stop();
    await cluster?.stop();
    await issuer?.[Symbol.asyncDispose]();
    await rm(folder, { recursive: true, force: true });
  }, 60_000);

  async function fill(): Promise<void> {
    const { kubectl } = cluster.plane;
    for (const name of ['team', 'other']) {
      await kubectl(['create', 'namespace', name]);
      await kubectl(['create', '-f', '-'], { input: order(name, `${name}-app`) });
    }
    await kubectl(['create', 'serviceaccount', 'robot', '-n', 'team']);
    const bind = ['create', 'rolebinding', '-n', 'team'];
    await kubectl([...bind, 'movers', '--clusterrole=arc-user', '--group=oidc:movers']);
    await kubectl([...bind, 'robot', '--clusterrole=arc-viewer', '--serviceaccount=team:robot']);
    await kubectl([
      'create',
      'clusterrolebinding',
      'watchers',
      '--clusterrole=arc-viewer',
      '--group=oidc:watchers',
    ]);
    for (const name of [
      'serviceaccount',
      'configmap',
      'deployment',
      'service',
      'disruption-budget',
      'network-policy',
    ])
      await kubectl(['apply', '-f', `knative/components/console/${name}.yaml`]);
  }

  const order = (namespace: string, name: string) => `
apiVersion: arc.opendefense.cloud/v1alpha1
kind: Order
metadata: { name: ${name}, namespace: ${namespace} }
spec:
  defaults: { srcRef: { name: source }, dstRef: { name: destination } }
  artifacts: [{ name: app, type: oci, spec: { image: 'team/app:1.0' } }]
`;

  /** A browser of its own: no cookie of another one. Pages that break their policy or fail are noted. */
  async function newBrowser(options: Parameters<Browser['newContext']>[0] = {}): Promise<Page> {
    const context = await browser.newContext({ ignoreHTTPSErrors: true, ...options });
    context.setDefaultTimeout(30_000);
    const page = await context.newPage();
    page.on('console', (message) => {
      const isAsked = /401|403|ERR_NETWORK_CHANGED/.test(message.text());
      const isOurs = page.url().startsWith(origin);
      if (['error', 'warning'].includes(message.type()) && isOurs && !isAsked) problems.push(message.text());
    });
    page.on('pageerror', (error) => problems.push(`${page.url()}: ${error.message}`));
    return page;
  }

  /** Opens a page. Other tests of this machine change its network, which ends what a browser loads just then. */
  async function go(page: Page, where: string): Promise<void> {
    for (let left = 5; ; left -= 1) {
      try {
        return void (await page.goto(`${origin}${where}`));
      } catch (caught) {
        if (left === 0 || !String(caught).includes('ERR_NETWORK_CHANGED')) throw caught;
      }
    }
  }

  async function signOn(page: Page, login: string, where = '/orders'): Promise<void> {
    await go(page, where);
    await page.getByRole('link', { name: /^Sign in with/ }).click();
    await page.locator('input[name="login"]').fill(login);
    await page.locator('input[name="password"]').fill('any');
    await page.locator('button[type="submit"]').click();
    await page.waitForURL(`${origin}${where}`);
  }

  /** Again where the network changes meanwhile, which the page says. */
  async function signOut(page: Page): Promise<void> {
    const failure = page.getByRole('dialog', { name: 'Still signed in' });
    for (let left = 3; ; left -= 1) {
      await page.getByRole('button', { name: /^Signed in as/ }).click();
      await page.getByRole('menuitem', { name: /^Sign out/ }).click();
      const isOut = await Promise.race([
        page.waitForURL(`${origin}/sign-in`).then(() => true),
        failure.waitFor().then(() => false),
      ]);
      if (isOut) return;
      if (left === 0) throw new Error(await failure.innerText());
      await failure.getByRole('button', { name: 'Close' }).click();
    }
  }

  async function paste(page: Page, token: string): Promise<void> {
    await go(page, '/sign-in?to=/orders');
    await page.getByLabel('Token').fill(token);
    await page.getByRole('button', { name: 'Sign in with a token' }).click();
  }

  async function choose(page: Page, namespace: string): Promise<void> {
    await page.getByRole('textbox', { name: 'Namespace' }).fill(namespace);
    const loaded = page.waitForEvent('load');
    await page.getByRole('button', { name: 'Show' }).click();
    await loaded;
  }

  /** Sends a change as a page does, with the cookies of its browser. */
  async function change(page: Page, where: string, data: object, headers: Record<string, string> = {}) {
    const session = await page.request.get(`${origin}/api/session`);
    const { csrf } = (await session.json()) as { csrf: string };
    return page.request.post(`${origin}${where}`, {
      data,
      headers: { 'x-arc-csrf': csrf, origin, ...headers },
    });
  }

  async function axeFindings(page: Page): Promise<unknown> {
    await page.evaluate(await readFile(axe, 'utf8'));
    return page.evaluate(
      'axe.run().then(({ violations }) => violations.map(({ id, nodes }) => [id, nodes[0].html]))',
    );
  }

  const rowOf = (page: Page, name: string) => page.getByRole('row', { name: new RegExp(name) });
  const closed = (page: Page) => page.context().close();

  it('signs in by OpenID Connect and shows the namespace of which the viewer may see Orders', async () => {
    const page = await newBrowser({ viewport: { width: 360, height: 800 } });
    await go(page, '/orders');
    expect(await axeFindings(page)).toEqual([]);
    await signOn(page, 'ann');
    await page.getByRole('heading', { name: 'Choose a namespace', level: 1 }).waitFor();
    expect(await axeFindings(page)).toEqual([]);
    await choose(page, 'team');
    await go(page, '/orders');
    await page.getByText('team-app').first().waitFor();
    await page.getByText('Live', { exact: true }).first().waitFor();
    expect(await page.getByText('other-app').count()).toBe(0);
    expect(await page.evaluate('document.scrollingElement.scrollWidth')).toBe(360);
    const cookies = await page.context().cookies();
    expect(cookies.find(({ name }) => name === '__Host-arc-console')).toMatchObject({
      httpOnly: true,
      secure: true,
      sameSite: 'Lax',
      path: '/',
    });
    await closed(page);
  });

  it('acts as the viewer, and cannot do what the cluster forbids the viewer', async () => {
    const page = await newBrowser();
    await signOn(page, 'ann', '/');
    await choose(page, 'team');
    await go(page, '/orders/team/team-app');
    await page.getByRole('button', { name: 'Actions' }).click();
    await page.getByRole('menuitem', { name: 'Suspend' }).click();
    await eventually('the Order to be suspended', 20_000, async () => {
      const found = await cluster.api.must('GET', arcPath('orders', 'team', 'team-app'));
      expect(found).toMatchObject({ spec: { suspend: true } });
    });
    const made = await change(page, '/api/orders', { manifest: order('team', 'by-ann') });
    expect(made.status()).toBe(200);
    await eventually('the audit log', 20_000, () =>
      expect(cluster.ours.first.program().output.stdout).toMatch(/"username":"oidc:ann".*by-ann/),
    );
    const refused = await change(page, '/api/orders', { manifest: order('other', 'by-ann') });
    expect([refused.status(), await refused.json()]).toMatchObject([403, { message: /oidc:ann/ }]);
    const gone = await change(page, '/api/orders/other/other-app/actions', { action: 'delete' });
    expect(gone.status()).toBe(403);
    await page.getByRole('button', { name: 'Signed in as oidc:ann' }).click();
    await page.getByRole('menuitem', { name: /^Choose a namespace/ }).click();
    await choose(page, 'other');
    await go(page, '/orders');
    await page
      .getByText(/"oidc:ann" cannot list/)
      .first()
      .waitFor();
    await closed(page);
  }, 180_000);

  it('shows all namespaces to whom may see them, who may change none', async () => {
    const page = await newBrowser();
    await signOn(page, 'vic');
    await rowOf(page, 'team-app').waitFor();
    await rowOf(page, 'other-app').waitFor();
    const refused = await change(page, '/api/orders/team/team-app/actions', { action: 'delete' });
    expect([refused.status(), await refused.json()]).toMatchObject([403, { code: 'Forbidden' }]);
    await closed(page);
  });

  it('lets somebody in who may do nothing, and shows nothing', async () => {
    const page = await newBrowser();
    await signOn(page, 'eve');
    await page.getByRole('heading', { name: 'Choose a namespace' }).waitFor();
    await choose(page, 'team');
    await go(page, '/orders');
    await page
      .getByText(/"oidc:eve" cannot list/)
      .first()
      .waitFor();
    await closed(page);
  });

  it('signs in with the token of a ServiceAccount, until the cluster no longer accepts it', async () => {
    const { kubectl } = cluster.plane;
    const page = await newBrowser();
    await paste(page, 'not.a.token');
    await page.getByRole('alert').getByText('You are not signed in').waitFor();
    const { stdout } = await kubectl(['create', 'token', 'robot', '-n', 'team']);
    await paste(page, stdout);
    await rowOf(page, 'team-app').waitFor();
    expect(await rowOf(page, 'other-app').count()).toBe(0);
    await kubectl(['delete', 'serviceaccount', 'robot', '-n', 'team']);
    // The page only watches, which the cluster lets it do: it is asked every half minute whether the token is still good.
    await page.waitForURL(/\/sign-in\?to=%2Forders$/, { timeout: 60_000 });
    await closed(page);
  });

  it('changes nothing for other sites', async () => {
    const page = await newBrowser();
    await signOn(page, 'ann', '/');
    const where = '/api/orders/team/team-app/actions';
    for (const headers of [
      { 'x-arc-csrf': '' },
      { 'x-arc-csrf': 'x' },
      { origin: 'https://evil.example.com' },
    ])
      expect((await change(page, where, { action: 'delete' }, headers)).status()).toBe(403);
    // A form of another page: the browser brings no cookie with it.
    const other = await page.context().newPage();
    await other.setContent(`<form method="post" action="${origin}/api/sign-out"><button>Win</button></form>`);
    const [answer] = await Promise.all([
      other.waitForResponse(`${origin}/api/sign-out`),
      other.getByRole('button').click(),
    ]);
    expect(answer.status()).toBe(401);
    expect((await page.request.get(`${origin}/api/session`)).status()).toBe(200);
    await closed(page);
  });

  it('ends a session where its viewer signs out, for every copy of its cookie', async () => {
    const page = await newBrowser();
    await signOn(page, 'ann', '/');
    await choose(page, 'team');
    const copy = await request.newContext({
      ignoreHTTPSErrors: true,
      storageState: await page.context().storageState(),
    });
    expect((await copy.get(`${origin}/api/session`)).status()).toBe(200);
    const tab = await page.context().newPage();
    await go(tab, '/orders');
    await signOut(page);
    await tab.waitForURL(/\/sign-in\?to=/);
    expect((await copy.get(`${origin}/api/session`)).status()).toBe(401);
    await copy.dispose();
    await closed(page);
  });

  it('renews the sign-on before it expires, and ends the session where the issuer no longer does', async () => {
    const page = await newBrowser();
    await signOn(page, 'vic');
    issuer.answered.length = 0;
    const manifest = () => page.request.get(`${origin}/api/orders/team/team-app/manifest`);
    await eventually('the sign-on to be renewed', 30_000, async () => {
      expect((await manifest()).status()).toBe(200);
      expect(issuer.answered).toContain('refresh_token 200');
    });
    issuer.forgetPeople();
    await page.waitForURL(/\/sign-in\?to=%2Forders$/, { timeout: (tokenSeconds + 40) * 1000 });
    expect(issuer.answered.at(-1)).toMatch(/^refresh_token 4/);
    await closed(page);
  }, 180_000);

  it('has no rights of its own, and no token', async () => {
    const account = 'system:serviceaccount:arc-system:console';
    const { stdout } = await cluster.plane.kubectl([
      'auth',
      'can-i',
      '--list',
      `--as=${account}`,
      '-n',
      'team',
    ]);
    const rights = stdout
      .split('\n')
      .slice(1)
      .filter((line) => line.trim() !== '' && !line.includes('[/'));
    // What everybody has who is known: to ask about themselves.
    expect(rights.map((line) => line.split(/\s+/)[0]).toSorted()).toEqual([
      'selfsubjectaccessreviews.authorization.k8s.io',
      'selfsubjectreviews.authentication.k8s.io',
      'selfsubjectrulesreviews.authorization.k8s.io',
    ]);
  });

  it('makes the browser complain of nothing', () => expect(problems).toEqual([]));

  it('lets an address fail a few times, and says when it may try again', async () => {
    const context = await request.newContext({ ignoreHTTPSErrors: true });
    const form = { token: 'not.a.token' };
    const statuses: number[] = [];
    for (let count = 0; count < 12; count += 1) {
      const answer = await context.post(`${origin}/sign-in`, { form, headers: { origin } });
      statuses.push(answer.status());
      if (answer.status() === 429) expect(Number(answer.headers()['retry-after'])).toBeGreaterThan(0);
    }
    expect(statuses.filter((status) => status === 401).length).toBeLessThanOrEqual(11);
    expect(statuses.at(-1)).toBe(429);
    await context.dispose();
  });
});
