import { once } from 'node:events';
import { connect } from 'node:net';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createAuthority } from '../../../shared/base/testing/authority.ts';
import { eventually } from '../../../shared/base/testing/eventually.ts';
import { hasBrowser, openBrowser } from '../../fixtures/browser.ts';
import { arc } from './conduit.ts';
import { apply, field, kubectl } from './kubectl.ts';
import { objects, orderOf } from './team.ts';

const minutes = 60_000;
const host = 'console.example.com';

/** The console as a pod, under the pod security and the policies of its namespace. Needs a team (`prepareTeam`). */
export function describeConsole(): void {
  describe.skipIf(!hasBrowser)('the console', { timeout: 3 * minutes }, () => {
    let browser: Browser;

    beforeAll(async () => {
      const { cert, key } = await (await createAuthority('console')).issue(
        { name: 'console' },
        { hosts: [host] },
      );
      await apply({
        apiVersion: 'v1',
        kind: 'Secret',
        type: 'kubernetes.io/tls',
        metadata: { name: 'console-tls', namespace: arc },
        stringData: { 'tls.crt': cert, 'tls.key': key },
      });
      await kubectl('apply', '-k', objects('console'));
      await kubectl('-n', arc, 'rollout', 'status', 'deployment/console', '--timeout=120s');
      const address = await field('{.spec.clusterIP}', '-n', arc, 'service', 'console');
      // Until kube-proxy knows the pod that is ready, it refuses connections to the Service.
      await eventually('kube-proxy to route to the pod', 30_000, async () => {
        const socket = connect(443, address);
        try {
          await once(socket, 'connect');
        } finally {
          socket.destroy();
        }
      });
      browser = await openBrowser(`--host-resolver-rules=MAP ${host} ${address}`);
    }, 4 * minutes);

    afterAll(async () => {
      await browser?.close();
      await kubectl('-n', arc, 'delete', 'secret', 'console-tls', '--ignore-not-found');
      await kubectl('delete', '-k', objects('console'), '--ignore-not-found');
    }, 2 * minutes);

    it('shows an account the Orders that the account may see, and refuses what the cluster refuses', async () => {
      await kubectl('-n', 'team', 'create', 'serviceaccount', 'reader');
      const subject = ['--clusterrole=arc-viewer', '--serviceaccount=team:reader'];
      await kubectl('-n', 'team', 'create', 'rolebinding', 'reader', ...subject);
      await apply(orderOf('shown', [{ type: 'oci', spec: { image: 'any/app:1.0' } }], { suspend: true }));
      const context = await browser.newContext({ ignoreHTTPSErrors: true });
      const page = await context.newPage();
      await page.goto(`https://${host}/orders`);
      await page.getByLabel('Token').fill(await kubectl('-n', 'team', 'create', 'token', 'reader'));
      await page.getByRole('button', { name: 'Sign in with a token' }).click();
      await page.getByRole('link', { name: /^shown/ }).waitFor();
      await page.getByRole('status').getByText('Live').waitFor();
      const status = (namespace: string) =>
        page.evaluate(`fetch('/api/orders/${namespace}/shown/manifest').then(({ status }) => status)`);
      expect(await status('team')).toBe(200);
      expect(await status('registries')).toBe(403);
      await context.close();
      await kubectl('-n', 'team', 'delete', 'order/shown', 'rolebinding/reader', 'serviceaccount/reader');
    });
  });
}
