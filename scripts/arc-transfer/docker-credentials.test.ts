import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { dockerCredentials, dockerLogins } from './docker-credentials.ts';

let folder = '';
beforeEach(async () => {
  folder = await mkdtemp(path.join(os.tmpdir(), 'arc-docker-'));
});
afterEach(() => rm(folder, { recursive: true }));

const config = (content: unknown) =>
  writeFile(
    path.join(folder, 'config.json'),
    typeof content === 'string' ? content : JSON.stringify(content),
  );
const credentials = (host: string) =>
  dockerCredentials(host, { DOCKER_CONFIG: folder, PATH: `${folder}:${process.env.PATH}` });

/** A credential helper that knows what `cases`, branches of a shell's `case` over the host, say. */
async function helper(name: string, cases: string, list = '{}'): Promise<void> {
  const file = path.join(folder, `docker-credential-${name}`);
  await writeFile(
    file,
    `#!/bin/sh\n[ "$1" = list ] && { echo '${list}'; exit; }\n[ "$1" = get ] || exit 9\nread -r host\ncase "$host" in\n${cases}\nesac\n`,
  );
  await chmod(file, 0o755);
}
const notFound = `*) echo 'credentials not found in native keychain'; exit 1;;`;

describe('the credentials of docker login', () => {
  it('are none without a configuration', async () => {
    expect(await credentials('r.io')).toBeUndefined();
  });

  it('come from the file', async () => {
    const content = JSON.stringify({ auths: { 'r.io': { auth: 'Ym9iOng=' } } });
    await config(content);
    expect(await credentials('r.io')).toEqual({ dockerConfigJson: content });
  });

  it("come from the registry's helper, else from the default one", async () => {
    await helper(
      'one',
      `r.io) echo '{"ServerURL":"r.io","Username":"bob","Secret":"hunter22"}';;\n${notFound}`,
    );
    await helper(
      'all',
      `https://index.docker.io/v1/) echo '{"Username":"<token>","Secret":"refresh"}';;\n${notFound}`,
    );
    await config({ credsStore: 'all', credHelpers: { 'r.io': 'one' } });
    expect(await credentials('r.io')).toEqual({ username: 'bob', password: 'hunter22' });
    const auths = { 'https://index.docker.io/v1/': { identitytoken: 'refresh' } };
    expect(await credentials('docker.io')).toEqual({ dockerConfigJson: JSON.stringify({ auths }) });
    expect(await credentials('other.io')).toBeUndefined();
  });

  it('are those of each registry of a chart, from the file and from helpers', async () => {
    await helper(
      'all',
      `r.io) echo '{"Username":"bob","Secret":"hunter22"}';;\nquay.io) echo '{"Username":"eve","Secret":"s3"}';;\n${notFound}`,
      '{"https://r.io":"bob","https://quay.io/":"eve","https://private.com":"x"}',
    );
    const entry = { auth: 'Ym9iOng=' };
    await config({ credsStore: 'all', auths: { 'file.io': entry } });
    const logins = async (...hosts: string[]) => {
      const env = { DOCKER_CONFIG: folder, PATH: `${folder}:${process.env.PATH}` };
      const found = await dockerLogins(hosts, env);
      return found && 'dockerConfigJson' in found ? JSON.parse(found.dockerConfigJson).auths : found;
    };
    const bob = { username: 'bob', password: 'hunter22' };
    expect(await logins('r.io', 'none.io')).toEqual({ 'file.io': entry, 'r.io': bob });
    expect(await logins('none.io', '*.io')).toMatchObject({
      'r.io': bob,
      'quay.io': { username: 'eve', password: 's3' },
    });
    expect(await logins('*')).not.toHaveProperty('private.com');
    await config({});
    expect(await logins('r.io')).toBeUndefined();
  });

  it.each([
    ['not JSON', 'hunter22', 'is not a docker configuration'],
    ['no object', '["hunter22"]', 'is not a docker configuration'],
    ['a helper with a path', { credsStore: '../../bin/hunter22' }, 'invalid name'],
    ['a helper that is not there', { credsStore: 'absent' }, 'docker-credential-absent.*it is not in PATH'],
    ['a helper that fails', { credsStore: 'broken' }, 'docker-credential-broken.*it failed \\(3\\)'],
  ])('are refused for %s, without quoting them', async (_, content, why) => {
    await helper('broken', '*) echo hunter22; exit 3;;');
    await config(content);
    const error: unknown = await credentials('r.io').catch((caught: unknown) => caught);
    expect(error).toMatchObject({ reason: 'config', message: expect.stringMatching(why) });
    expect(String(error)).not.toContain('hunter22');
  });
});
