import { MoreHorizontal } from 'lucide-react';
import { useState } from 'react';
import { useLocation } from 'wouter';
import type { Minute, OrderHead } from '../../api.ts';
import { type ActionLook, act, actionLooks } from '../data/actions.ts';
import { bytesText, durationText, percentText } from '../data/format.ts';
import { CopyButton } from '../parts/copy.tsx';
import { Confirm } from '../parts/dialog.tsx';
import { ActionMenu, type MenuEntry } from '../parts/menu.tsx';
import { Chip, Phase } from '../parts/phase.tsx';
import { CountBar } from '../parts/progress.tsx';
import { Ago, Duration } from '../parts/time.tsx';
import { sayDone, sayFailed } from '../parts/toasts.tsx';

/** The summary of an Order: progress, facts and possible actions. */
export function OrderHeader({ order, minutes }: { order: OrderHead; minutes: readonly Minute[] }) {
  const { name, namespace, phase, counts, message, waits, started, completed, created } = order;
  const recent = minutes.reduce((total, minute) => total + minute.bytes, 0);
  return (
    <header className="order-head">
      <div className="page-head">
        <div className="page-title">
          <h1>
            {name}
            <CopyButton text={`${namespace}/${name}`} what="name" />
          </h1>
          <Phase phase={phase} />
        </div>
        <Actions order={order} />
      </div>
      <div className="order-progress">
        <CountBar counts={counts} isLarge />
        <dl className="facts">
          <Fact
            name="Arrived"
            value={`${counts.succeeded} of ${counts.total}`}
            note={percentText(order.progress.share)}
          />
          <Fact
            name="Copied"
            value={order.progress.bytes > 0 ? bytesText(order.progress.bytes) : '–'}
            note={recent > 0 ? `${bytesText(recent)} copied in the last hour` : ''}
          />
          <Pace order={order} />
          <Fact
            name={completed ? 'Took' : 'Runs for'}
            value={<Duration from={started} to={completed} />}
            note={
              <>
                created <Ago at={created} />
              </>
            }
          />
        </dl>
      </div>
      {(message !== '' || waits.length > 0) && (
        <p className={`order-message${phase === 'Failed' ? ' is-bad' : ''}`}>
          {waits.map(({ reason, count, needsPerson }) => (
            <Chip key={reason} tone={needsPerson ? 'bad' : 'warn'}>
              {reason} {count > 1 && count}
            </Chip>
          ))}
          <span>{message}</span>
        </p>
      )}
    </header>
  );
}

function Fact({ name, value, note }: { name: string; value: React.ReactNode; note?: React.ReactNode }) {
  return (
    <div className="fact">
      <dt>{name}</dt>
      <dd>
        <span className="fact-value">{value}</span>
        <span className="fact-note">{note}</span>
      </dd>
    </div>
  );
}

function Pace({ order: { progress, completed, counts } }: { order: OrderHead }) {
  const { bytesPerSecond, secondsLeft, isEstimate } = progress;
  if (completed || counts.running === 0) return null;
  const left =
    secondsLeft === undefined ? '' : `${isEstimate ? 'about ' : ''}${durationText(secondsLeft * 1000)} left`;
  return (
    <Fact
      name="Rate"
      value={bytesPerSecond === undefined ? '…' : `${bytesText(bytesPerSecond)}/s`}
      note={left}
    />
  );
}

/** The most useful actions, in order of preference. */
const primaryActions = ['retry', 'resume'];

function Actions({ order }: { order: OrderHead }) {
  const [asked, setAsked] = useState<ActionLook>();
  const [, navigate] = useLocation();
  const offered = actionLooks.filter(({ name }) => name === 'delete' || order.actions.includes(name));
  const primary = offered.find(({ name }) => primaryActions.includes(name));
  const others = offered.filter((look) => look !== primary);
  const run = async ({ name, label, done }: ActionLook) => {
    try {
      await act(order, name);
      sayDone(`${order.name}: ${done}`);
      if (name === 'delete') navigate('/orders');
    } catch (caught) {
      sayFailed(`${label} failed`, caught);
    }
  };
  const choose = (look: ActionLook) => (look.isDangerous ? setAsked(look) : void run(look));
  const entry = (look: ActionLook): MenuEntry => {
    const { name, label, icon: Icon, isDangerous } = look;
    const isRed = isDangerous && name !== 'force';
    return {
      label: isDangerous ? `${label}…` : label,
      icon: <Icon size={14} aria-hidden />,
      isDangerous: isRed,
      onSelect: () => choose(look),
    };
  };
  const isLast = ({ name }: ActionLook) => name === 'cancel' || name === 'delete';
  return (
    <div className="page-actions">
      {primary && (
        <button type="button" className="button primary" onClick={() => choose(primary)}>
          <primary.icon size={15} aria-hidden />
          {primary.label}
        </button>
      )}
      <ActionMenu
        trigger={
          <button type="button" className="button" aria-label="Actions">
            <MoreHorizontal size={16} aria-hidden />
            Actions
          </button>
        }
        groups={[others.filter((look) => !isLast(look)).map(entry), others.filter(isLast).map(entry)]}
      />
      <Confirm
        isOpen={asked !== undefined}
        title={`${asked?.label} ${order.name}?`}
        text={asked?.text}
        verb={asked?.label ?? ''}
        isDangerous={asked?.name !== 'force'}
        onClose={() => setAsked(undefined)}
        onConfirm={() => asked && void run(asked)}
      />
    </div>
  );
}
