import { expect, it } from 'vitest';
import { deafServer } from '../../../../test/fixtures/http/black-hole.ts';
import { connect } from './connect.ts';
import { classifyFailure } from './failure.ts';

it('fails over within 2 s if a member drops the connect, and reports that nothing was sent', async () => {
  const hole = await deafServer();
  const wire = await connect([`http://127.0.0.1:${hole.port}`], undefined);
  try {
    const caught: unknown = await wire.range({ key: Buffer.from('a') }, 30_000).catch((error) => error);
    expect(String(caught)).toContain(`no connection to 127.0.0.1:${hole.port} within 2 s`);
    expect(classifyFailure(caught)).toMatchObject({ unsent: true, retryable: true });
  } finally {
    wire.close();
    await hole.close();
  }
});
