import { describe, expect, it } from 'vitest';
import { holdReasons } from '#shared/domain';
import { shippedText } from '../core/shipped.ts';
import { explanationsOf, parseStatusTable, similarNames } from './status-table.ts';

const all = parseStatusTable(shippedText('docs/status.md'));

describe('the table of docs/status.md', () => {
  it('has each reason once, with what it means and what to do', () => {
    for (const reason of Object.keys(holdReasons)) {
      const found = all.filter(({ what, name }) => what === 'artifact waits' && name === reason);
      expect(found).toHaveLength(1);
      expect(found[0]?.meaning && found[0].help).toBeTruthy();
    }
  });

  it('is searched by name, or by what the names are of, in any case', () => {
    expect(explanationsOf(all, 'endpointmissing').map(({ what }) => what)).toEqual(['artifact waits']);
    expect(explanationsOf(all, 'Failed').map(({ what }) => what)).toEqual([
      'Order phase',
      'artifact phase',
      'Event',
    ]);
    expect(explanationsOf(all, 'DNSFailure')[0]?.help).toContain('remoteURL');
    expect(explanationsOf(all, 'order phase').length).toBeGreaterThan(5);
    expect(explanationsOf(all, 'nothing')).toEqual([]);
    expect(similarNames(all, 'EndpointMisssing')).toContain('EndpointMissing');
  });
});
