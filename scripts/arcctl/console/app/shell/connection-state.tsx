import { CloudOff, LoaderCircle, Radio, TriangleAlert } from 'lucide-react';
import { type Connection, useConnection } from '../data/connection.ts';
import { clockText } from '../data/format.ts';

const looks = {
  connecting: { Icon: LoaderCircle, tone: 'quiet' },
  live: { Icon: Radio, tone: 'good' },
  reconnecting: { Icon: CloudOff, tone: 'warn' },
  stale: { Icon: TriangleAlert, tone: 'bad' },
} as const;

/** Shows whether the data is current. */
export function ConnectionState() {
  const connection = useConnection();
  const { Icon, tone } = looks[connection.state];
  return (
    <span className={`connection tone-${tone}`} role="status" title={connection.problem}>
      <Icon size={13} className={`icon${connection.state === 'connecting' ? ' turning' : ''}`} aria-hidden />
      <span>{textOf(connection)}</span>
    </span>
  );
}

function textOf({ state, sinceMs, problem }: Connection): string {
  if (state === 'live') return problem === '' ? 'Live' : 'Live, in part';
  if (state === 'connecting') return 'Connecting';
  return `${state === 'stale' ? 'Stale' : 'Reconnecting'} since ${clockText(sinceMs)}`;
}
