import { X } from 'lucide-react';
import { useState } from 'react';
import type { OrderRow } from '../../api.ts';
import { type ActionLook, act, actionLooks } from '../data/actions.ts';
import { countText } from '../data/format.ts';
import { Confirm } from '../parts/dialog.tsx';
import { sayDone, sayFailed } from '../parts/toasts.tsx';

const over = ['Succeeded', 'Failed', 'Cancelled'];

/** Returns the Orders of a selection on which an action has an effect. */
function suitable(name: string, rows: readonly OrderRow[]): OrderRow[] {
  return rows.filter(({ phase, counts }) => {
    if (name === 'retry') return counts.failed + counts.cancelled > 0 && phase !== 'Cancelled';
    if (name === 'resume') return phase === 'Suspended' || phase === 'Cancelled';
    if (name === 'force') return phase !== 'Suspended' && phase !== 'Cancelled';
    return name === 'delete' || !over.includes(phase);
  });
}

/** Maximum number of requests in flight. */
const atOnce = 4;

/** Actions on the selected Orders, with a single confirmation. */
export function BulkActions({ chosen, onDone }: { chosen: readonly OrderRow[]; onDone(): void }) {
  const [asked, setAsked] = useState<ActionLook>();
  if (chosen.length === 0) return null;
  const offered = actionLooks
    .map((look) => ({ look, rows: suitable(look.name, chosen) }))
    .filter(({ rows }) => rows.length > 0);
  const wanted = offered.find(({ look }) => look === asked);
  const run = async () => {
    if (!wanted) return;
    const { look, rows } = wanted;
    const failed = await actOnAll(rows, look.name);
    if (failed.length < rows.length)
      sayDone(`${look.done}: ${countText(rows.length - failed.length, 'Order')}`);
    const [first] = failed;
    if (first) sayFailed(`${look.label} failed for ${countText(failed.length, 'Order')}`, first);
    onDone();
  };
  return (
    <section className="bulk" aria-label="Selected Orders">
      <strong>{chosen.length} selected</strong>
      {offered.map(({ look, rows }) => {
        const { name, label, icon: Icon, isDangerous } = look;
        return (
          <button
            key={name}
            type="button"
            className={`button${isDangerous ? ' danger-quiet' : ''}`}
            onClick={() => setAsked(look)}
          >
            <Icon size={14} aria-hidden />
            {label} {rows.length < chosen.length && <span className="count">{rows.length}</span>}
          </button>
        );
      })}
      <button type="button" className="icon-button" aria-label="Clear the selection" onClick={onDone}>
        <X size={15} aria-hidden />
      </button>
      <Confirm
        isOpen={wanted !== undefined}
        title={`${asked?.label} ${countText(wanted?.rows.length ?? 0, 'Order')}?`}
        text={
          <>
            <p>{asked?.text}</p>
            <p className="quiet">{namesOf(wanted?.rows ?? [])}</p>
          </>
        }
        verb={asked?.label ?? ''}
        isDangerous={asked?.isDangerous ?? false}
        onClose={() => setAsked(undefined)}
        onConfirm={() => void run()}
      />
    </section>
  );
}

async function actOnAll(rows: readonly OrderRow[], action: string): Promise<unknown[]> {
  const waiting = [...rows];
  const failed: unknown[] = [];
  const work = async () => {
    for (let row = waiting.shift(); row; row = waiting.shift())
      await act(row, action).catch((caught: unknown) => failed.push(caught));
  };
  await Promise.all(Array.from({ length: atOnce }, work));
  return failed;
}

function namesOf(rows: readonly OrderRow[]): string {
  const names = rows.slice(0, 5).map(({ namespace, name }) => `${namespace}/${name}`);
  return `${names.join(', ')}${rows.length > names.length ? ` and ${rows.length - names.length} more` : ''}`;
}
