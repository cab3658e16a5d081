import { CircleCheck, CirclePlay, CircleX, type LucideIcon, Network, Package, UserRound } from 'lucide-react';
import type { ReactNode } from 'react';
import { Link } from 'wouter';
import type { EndpointRow, Minute, OrderRow } from '../../api.ts';
import { countText } from '../data/format.ts';
import { rowsOf, useTopic, valueIn } from '../data/topic.ts';
import { Throughput } from '../parts/chart.tsx';
import { NewOrderLink } from '../parts/new-order-link.tsx';
import { Phase, PhaseIcon, type Tone } from '../parts/phase.tsx';
import { CountBar } from '../parts/progress.tsx';
import { Empty, Notice, PageHead, Pending } from '../parts/states.tsx';
import { Ago } from '../parts/time.tsx';

interface Totals {
  orders: number;
  running: number;
  failed: number;
  waiting: number;
  succeeded: number;
  artifactsRunning: number;
  endpoints: number;
  endpointsBroken: number;
}

/** Running transfers, recent failures, Orders that need attention, throughput. */
export function OverviewPage() {
  const topic = useTopic('overview');
  const totals = valueIn<Totals>(topic, 'totals');
  const minutes = valueIn<readonly Minute[]>(topic, 'minutes') ?? [];
  return (
    <div className="page">
      <PageHead
        title="Overview"
        text={totals && `${countText(totals.orders, 'Order')}, ${countText(totals.endpoints, 'Endpoint')}`}
      >
        <NewOrderLink />
      </PageHead>
      {topic.problem && <Notice>{topic.problem.message}</Notice>}
      {!topic.isReady || !totals ? (
        <Pending topic={topic} />
      ) : totals.orders === 0 && totals.endpoints === 0 ? (
        <Welcome />
      ) : (
        <>
          <Tiles totals={totals} />
          <div className="overview">
            <Throughput minutes={minutes} />
            <Orders
              head="Needs attention"
              rows={[...rowsOf<OrderRow>(topic, 'waiting'), ...rowsOf<OrderRow>(topic, 'failed')]}
              none="No Order needs attention."
              icon={<CircleCheck size={20} className="tone-good" aria-hidden />}
              noteOf={whyOf}
            />
            <Orders
              head="Running"
              rows={rowsOf<OrderRow>(topic, 'running')}
              none="No Order is running."
              icon={<CirclePlay size={20} aria-hidden />}
              noteOf={({ counts }) => `${counts.succeeded} of ${counts.total}`}
            />
            <Orders
              head="Latest"
              rows={rowsOf<OrderRow>(topic, 'recent')}
              none="No Orders yet."
              icon={<Package size={20} aria-hidden />}
              noteOf={whyOf}
            />
          </div>
          <Broken rows={rowsOf<EndpointRow>(topic, 'broken')} />
        </>
      )}
    </div>
  );
}

function whyOf({ message, waits, counts }: OrderRow): string {
  const [wait] = waits;
  if (wait) return `${wait.reason} (${wait.count})`;
  if (counts.failed > 0) return `${counts.failed} of ${counts.total} failed`;
  return message.split('\n', 1)[0] ?? '';
}

function Tiles({ totals }: { totals: Totals }) {
  return (
    <ul className="tiles">
      <Tile
        href="/orders?phase=Running"
        icon={CirclePlay}
        tone="busy"
        count={totals.running}
        name="Running"
        note={countText(totals.artifactsRunning, 'artifact')}
      />
      <Tile
        href="/orders?phase=Failed"
        icon={CircleX}
        tone="bad"
        count={totals.failed}
        name="Failed"
        note="in the last 24 hours"
      />
      <Tile
        href="/orders?view=person"
        icon={UserRound}
        tone="warn"
        count={totals.waiting}
        name="Needs attention"
        note="in addition to failures"
      />
      <Tile
        href="/orders?phase=Succeeded"
        icon={CircleCheck}
        tone="good"
        count={totals.succeeded}
        name="Succeeded"
        note="in the last 24 hours"
      />
      <Tile
        href="/endpoints"
        icon={Network}
        tone={totals.endpointsBroken > 0 ? 'bad' : 'good'}
        count={totals.endpointsBroken}
        name="Unusable Endpoints"
        note={`of ${totals.endpoints}`}
      />
    </ul>
  );
}

interface TileProps {
  href: string;
  icon: LucideIcon;
  tone: Tone;
  count: number;
  name: string;
  note: string;
}

function Tile({ href, icon: Icon, tone, count, name, note }: TileProps) {
  return (
    <li>
      <Link href={href} className="tile">
        <span className="tile-name">
          <Icon size={15} className={count > 0 ? `tone-${tone}` : 'quiet'} aria-hidden />
          {name}
        </span>
        <span className={`tile-count${count > 0 && tone === 'bad' ? ' tone-bad' : ''}`}>
          {count.toLocaleString()}
        </span>
        <span className="tile-note">{note}</span>
      </Link>
    </li>
  );
}

interface OrdersProps {
  head: string;
  rows: readonly OrderRow[];
  none: string;
  icon: ReactNode;
  noteOf(row: OrderRow): string;
}

const mostRows = 8;

function Orders({ head, rows, none, icon, noteOf }: OrdersProps) {
  return (
    <section className="card" aria-label={head}>
      <header className="card-head">
        <h2>
          {head} {rows.length > 0 && <span className="count">{rows.length}</span>}
        </h2>
        <Link href="/orders" className="quiet-link">
          All Orders
        </Link>
      </header>
      {rows.length === 0 ? (
        <p className="card-none">
          {icon}
          {none}
        </p>
      ) : (
        <ul className="lines">
          {rows.slice(0, mostRows).map((row) => (
            <li key={row.id}>
              <Link href={`/orders/${row.namespace}/${row.name}`} className="line">
                <PhaseIcon phase={row.phase} size={16} />
                <span className="line-name">
                  <span>{row.name}</span>
                  <small>
                    {row.phase} · {row.namespace}
                  </small>
                </span>
                <span className="line-note">{noteOf(row)}</span>
                <CountBar counts={row.counts} />
                <span className="line-time">
                  <Ago at={row.completed || row.started || row.created} />
                </span>
              </Link>
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}

function Broken({ rows }: { rows: readonly EndpointRow[] }) {
  if (rows.length === 0) return null;
  return (
    <section className="card" aria-label="Unusable Endpoints">
      <header className="card-head">
        <h2>Unusable Endpoints</h2>
      </header>
      <ul className="lines">
        {rows.map(({ id, namespace, name, url, conditions }) => (
          <li key={id}>
            <Link href={`/endpoints?open=${id}`} className="line">
              <Phase phase="broken" label="Not ready" />
              <span className="line-name">
                <span>{name}</span>
                <small>
                  {namespace} · {url}
                </small>
              </span>
              <span className="line-note grows">
                {conditions.find(({ type }) => type === 'Ready')?.message}
              </span>
            </Link>
          </li>
        ))}
      </ul>
    </section>
  );
}

function Welcome() {
  return (
    <Empty icon={<Package size={28} aria-hidden />} title="No Orders and Endpoints yet">
      <p>
        An Order says which artifacts to move, from which Endpoint to which. Make Endpoints first, then an
        Order.
      </p>
      <p>
        <code>npm start -- --with-registry</code> starts two registries for a trial.
      </p>
      <p>
        <Link href="/doctor" className="button">
          Check the cluster
        </Link>
      </p>
    </Empty>
  );
}
