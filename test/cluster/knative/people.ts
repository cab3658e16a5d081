import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';
import type { KubeObject } from '#shared/base/meta';
import { signIn, visit } from '../../../scripts/arcctl/testing/visit.ts';
import { bundleInstalled } from '../../../scripts/build/bundle.ts';
import { eventually } from '../../../shared/base/testing/eventually.ts';
import { hasBrowser, openBrowser, openSignedIn } from '../../fixtures/browser.ts';
import { start } from '../../fixtures/program.ts';
import { act, openOrder, seeArtifact, seeLiveLog } from '../../fixtures/seen-order.ts';
import type { Registries } from './images.ts';
import { apply, kubectl } from './kubectl.ts';
import { objects, openToWorkers, orderOf } from './team.ts';

const minutes = 60_000;
const namespace = 'people';

/** What people do with arcctl and its dashboard, in a namespace of their own: from giving it to ARC to the end of four Orders. */
export function describePeople(registries: () => Registries): void {
  describe('people with arcctl', { timeout: 5 * minutes }, () => {
    let folder: string;
    let program: string;

    beforeAll(async () => {
      await kubectl('delete', 'namespace', namespace, '--ignore-not-found');
      await kubectl('create', 'namespace', namespace);
      folder = await mkdtemp(path.join(os.tmpdir(), 'arcctl-'));
      ({ file: program } = await bundleInstalled(folder));
    }, 3 * minutes);

    afterAll(async () => {
      await kubectl('delete', 'namespace', namespace, '--ignore-not-found');
      await rm(folder, { recursive: true, force: true });
    }, 3 * minutes);

    /** The very file that people install; resolves with its output, rejects unless it exits with 0. */
    async function arcctl(...args: string[]): Promise<string> {
      const options = { timeout: 4 * minutes };
      const running = promisify(execFile)(process.execPath, [program, '-n', namespace, ...args], options);
      const { stdout } = await running.catch((caught: unknown) => {
        const { code, stdout, stderr } = caught as { code: unknown; stdout: string; stderr: string };
        throw new Error(`arcctl ${args.join(' ')} ended with ${code}\n${stdout}${stderr}`);
      });
      return stdout;
    }

    it('hear what their namespace needs, and give it to ARC', async () => {
      const before = await arcctl('doctor');
      for (const part of ['ARC API', 'APIService', 'functions', 'Broker', 'Triggers', 'namespace'])
        expect(before).toMatch(new RegExp(`^${part} +ok `, 'm'));
      expect(before).toMatch(/^tenant: arcctl tenant add people$/m);
      expect(await arcctl('tenant', 'add', namespace)).toMatch(/^serviceaccount\/arc-workflow applied$/m);
      expect(await arcctl('doctor')).toMatch(/^tenant +ok /m);
      await openToWorkers(namespace);
      await applyHere('team.yaml', ['Secret', 'Endpoint']);
      await applyHere('stubborn.yaml', ['ArtifactType', 'WorkflowTemplate']);
    });

    it('make an Order of two references, and follow it until the image has arrived', async () => {
      const { seed, digest, destination } = registries();
      const app = await seed('people/app', '1.0');
      const references = [
        'source.registries.svc:5000/people/app:1.0',
        'destination.registries.svc:5000/mirror/people/',
      ];
      await arcctl('create', ...references, '--name', 'moved');
      expect(await arcctl('watch', 'moved')).toMatch(/^#0: Succeeded$/m);
      expect(await digest(`${destination}/mirror/people/app:1.0`)).toBe(app);
      expect(await arcctl('get', 'orders', 'moved')).toMatch(/\nmoved +Succeeded +1 +1 +0 /);
      const tree = await arcctl('tree', 'moved', '-o', 'wide');
      expect(tree).toContain(app);
      expect(tree).toMatch(/└─ Pod .* Succeeded/);
    });

    it('see why one failed, and bring it in with a retry', async () => {
      const spec = { image: 'people/later:1.0' };
      await make('failed', [{ name: 'later', type: 'oci', spec }], { retry: { limit: 0 } });
      await expect(arcctl('wait', 'failed', '--timeout=2m')).rejects.toThrow(
        /ended with 1\n[\s\S]*people\/later:1\.0 does not exist/,
      );
      expect(await arcctl('logs', 'failed')).toContain('people/later');
      const arrived = await registries().seed('people/later', '1.0');
      await arcctl('retry', 'failed');
      await arcctl('wait', 'failed', '--timeout=2m');
      expect(await arcctl('tree', 'failed', '-o', 'wide')).toContain(arrived);
    });

    it('cancel one that runs', async () => {
      await make('cancelled', [{ type: 'stubborn', spec: { place: 'one', seconds: 300 } }]);
      await arcctl('wait', 'cancelled', '--for=phase=Running', '--timeout=2m');
      await arcctl('cancel', 'cancelled');
      await arcctl('wait', 'cancelled', '--for=phase=Cancelled', '--timeout=3m');
    });

    /** Calls `look` with the address that `arcctl dashboard` prints, and ends the dashboard. */
    async function withDashboard(look: (url: string) => Promise<void>): Promise<void> {
      const dashboard = start(process.execPath, [program, 'dashboard', '--port=0']);
      try {
        await eventually('its address', minutes, () => {
          dashboard.mustRun();
          expect(dashboard.output.stdout).toMatch(/^http:.+\n/);
        });
        await look(dashboard.output.stdout.trim());
      } finally {
        dashboard.child.kill('SIGINT');
        expect(await dashboard.ended).toBe(130);
      }
    }

    it('read all of it from the dashboard', () =>
      withDashboard(async (url) => {
        const { origin } = new URL(url);
        const cookie = await signIn(url);
        const answer = async (where: string) => {
          const found = await visit(`${origin}/api/${where}`, { headers: { cookie } });
          expect(found.status, where).toBe(200);
          return found;
        };
        /** Follows a page until it has shown all of this. */
        const live = async (where: string, ...wanted: string[]) => {
          const { body } = await answer(`live/${where}`);
          let text = '';
          for await (const chunk of body?.pipeThrough(new TextDecoderStream()) ?? []) {
            text += chunk;
            if (wanted.every((each) => text.includes(each))) return;
            if (text.includes('event: beat')) break;
          }
          expect(wanted.filter((each) => !text.includes(each))).toEqual([]);
        };
        await live(`orders?namespace=${namespace}`, '"moved"', '"failed"', '"cancelled"');
        await live(`orders/${namespace}/moved`, '"Succeeded"', 'sha256:');
        await live(`orders/${namespace}/cancelled`, '"Cancelled"');
        await live('endpoints', 'destination.registries.svc:5000');
        expect(await (await answer(`orders/${namespace}/failed/logs/0`)).text()).toContain('succeeded');
      }));

    it.skipIf(!hasBrowser)(
      'see one arrive, one fail, and drive them in a browser: a cancel, and a retry',
      { timeout: 12 * minutes },
      () =>
        withDashboard(async (url) => {
          await using stack = new AsyncDisposableStack();
          const browser = await openBrowser();
          stack.defer(() => browser.close());
          const page = await browser.newPage();
          page.setDefaultTimeout(4 * minutes);
          await registries().seed('people/seen', '1.0');
          const image = (name: string, from: string) => ({
            name,
            type: 'oci',
            spec: { image: from, override: `people/${name}:1.0` },
          });
          const artifacts = [
            image('app', 'people/seen:1.0'),
            image('charts', 'people/absent:1.0'),
            { name: 'tools', type: 'stubborn', spec: { place: 'seen', seconds: 600 } },
          ];
          await make('seen', artifacts, { retry: { limit: 0 } });
          await openSignedIn(page, url, `/?namespace=${namespace}`);
          await openOrder(page, 'seen');
          await seeArtifact(page, 'app', 'Succeeded.*sha256:');
          await seeArtifact(page, 'charts', 'Failed.*people/absent:1\\.0 does not exist');
          await seeArtifact(page, 'tools', 'Running');
          await seeLiveLog(page, 'charts');
          await act(page, 'cancel', 'tools');
          await seeArtifact(page, 'tools', 'Cancelled');
          await registries().seed('people/absent', '1.0');
          await act(page, 'retry', 'charts');
          await seeArtifact(page, 'charts', 'Succeeded.*sha256:');
        }),
    );
  });
}

/** Objects of a file that is for the namespace `team`, in that of this test. */
async function applyHere(file: string, kinds: readonly string[]): Promise<void> {
  for (const document of parseAllDocuments(await readFile(objects(file), 'utf8'))) {
    const object = document.toJS() as KubeObject;
    if (kinds.includes(object.kind)) await apply(here(object));
  }
}

function make(name: string, artifacts: readonly object[], spec: object = {}): Promise<void> {
  return apply(here(orderOf(name, artifacts, spec) as KubeObject));
}

function here(object: KubeObject): KubeObject {
  return { ...object, metadata: { ...object.metadata, namespace } };
}
