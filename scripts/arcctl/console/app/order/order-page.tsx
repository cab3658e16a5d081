import { Tabs } from '@base-ui/react/tabs';
import { ChevronRight, FileText, GitFork, List, ScrollText, Timer } from 'lucide-react';
import { useEffect } from 'react';
import { Link, useLocation } from 'wouter';
import type { ArtifactRow, EventRow, Minute, OrderHead } from '../../api.ts';
import { rowsOf, useTopic, valueIn } from '../data/topic.ts';
import { Empty, Notice, Pending } from '../parts/states.tsx';
import { Artifacts } from './artifacts.tsx';
import { Graph } from './graph.tsx';
import { OrderHeader } from './header.tsx';
import { Logs } from './logs.tsx';
import { Manifest } from './manifest.tsx';
import { Timeline } from './timeline.tsx';

const tabs = [
  { id: 'artifacts', name: 'Artifacts', icon: List },
  { id: 'graph', name: 'Graph', icon: GitFork },
  { id: 'timeline', name: 'Timeline', icon: Timer },
  { id: 'logs', name: 'Logs', icon: ScrollText },
  { id: 'manifest', name: 'Manifest', icon: FileText },
] as const;

/** The page of an Order. */
export default function OrderPage({
  namespace,
  name,
  tab,
}: {
  namespace: string;
  name: string;
  tab: string;
}) {
  const topic = useTopic(`orders/${namespace}/${name}`);
  const [, navigate] = useLocation();
  const base = `/orders/${namespace}/${name}`;
  const go = (id: string) => navigate(id === 'artifacts' ? base : `${base}/${id}`);
  useTabKeys(tab, go);
  const order = valueIn<OrderHead>(topic, 'order');
  const minutes = valueIn<readonly Minute[]>(topic, 'minutes') ?? [];
  const artifacts = rowsOf<ArtifactRow>(topic, 'artifacts');
  const events = rowsOf<EventRow>(topic, 'events');
  return (
    <div className="page fills">
      <nav className="crumbs" aria-label="Breadcrumbs">
        <Link href="/orders">Orders</Link>
        <ChevronRight size={13} aria-hidden />
        <Link href={`/orders?namespace=${namespace}`}>{namespace}</Link>
        <ChevronRight size={13} aria-hidden />
        <span>{name}</span>
      </nav>
      {topic.problem && !order && (
        <Empty
          isPage
          title={topic.problem.code === 'NotFound' ? `Order ${name} not found` : topic.problem.code}
        >
          <p>{topic.problem.message}</p>
          <Link href="/orders" className="button">
            To the Orders
          </Link>
        </Empty>
      )}
      {topic.problem && order && (
        <Notice>{topic.problem.message}: this page shows what it was at last.</Notice>
      )}
      {!topic.isReady && <Pending topic={topic} />}
      {order && (
        <>
          <OrderHeader order={order} minutes={minutes} />
          <Tabs.Root value={tab} onValueChange={(next) => go(String(next))} className="tabs">
            <Tabs.List className="tab-list" aria-label="Parts of the Order">
              {tabs.map(({ id, name: label, icon: Icon }) => (
                <Tabs.Tab key={id} value={id} className="tab">
                  <Icon size={14} aria-hidden />
                  {label}
                  {id === 'artifacts' && <span className="count">{order.counts.total.toLocaleString()}</span>}
                  {id === 'timeline' && <span className="count">{events.length}</span>}
                </Tabs.Tab>
              ))}
              <Tabs.Indicator className="tab-mark" />
            </Tabs.List>
            <Tabs.Panel value="artifacts" className="tab-panel">
              <Artifacts order={order} artifacts={artifacts} />
            </Tabs.Panel>
            <Tabs.Panel value="graph" className="tab-panel">
              <Graph order={order} artifacts={artifacts} />
            </Tabs.Panel>
            <Tabs.Panel value="timeline" className="tab-panel">
              <Timeline events={events} />
            </Tabs.Panel>
            <Tabs.Panel value="logs" className="tab-panel">
              <Logs order={order} artifacts={artifacts} />
            </Tabs.Panel>
            <Tabs.Panel value="manifest" className="tab-panel">
              <Manifest order={order} />
            </Tabs.Panel>
          </Tabs.Root>
        </>
      )}
    </div>
  );
}

/** Registers `[` and `]` for the previous and next tab. */
function useTabKeys(tab: string, go: (id: string) => void): void {
  useEffect(() => {
    const onKey = ({ key, target, ctrlKey, metaKey }: KeyboardEvent) => {
      const step = { '[': -1, ']': 1 }[key];
      const isTyping = target instanceof HTMLElement && ['INPUT', 'TEXTAREA'].includes(target.tagName);
      if (step === undefined || isTyping || ctrlKey || metaKey) return;
      const at = tabs.findIndex(({ id }) => id === tab);
      go(tabs[(at + step + tabs.length) % tabs.length]?.id ?? 'artifacts');
    };
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  });
}
