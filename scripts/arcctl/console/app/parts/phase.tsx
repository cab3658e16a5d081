import {
  Ban,
  CalendarClock,
  CircleCheck,
  CircleDashed,
  CircleHelp,
  CircleX,
  Hourglass,
  LoaderCircle,
  type LucideIcon,
  PauseCircle,
  TriangleAlert,
} from 'lucide-react';

export type Tone = 'good' | 'bad' | 'busy' | 'warn' | 'quiet';

const looks: Readonly<Record<string, readonly [LucideIcon, Tone]>> = {
  Succeeded: [CircleCheck, 'good'],
  ready: [CircleCheck, 'good'],
  ok: [CircleCheck, 'good'],
  Failed: [CircleX, 'bad'],
  Error: [CircleX, 'bad'],
  broken: [CircleX, 'bad'],
  bad: [CircleX, 'bad'],
  Invalid: [TriangleAlert, 'bad'],
  warn: [TriangleAlert, 'warn'],
  Running: [LoaderCircle, 'busy'],
  Active: [CalendarClock, 'busy'],
  Scheduled: [CalendarClock, 'busy'],
  Queued: [Hourglass, 'warn'],
  Pending: [CircleDashed, 'quiet'],
  Cancelled: [Ban, 'quiet'],
  Stopped: [Ban, 'quiet'],
  Suspended: [PauseCircle, 'warn'],
  unknown: [CircleHelp, 'quiet'],
};

export function toneOf(phase: string): Tone {
  return looks[phase]?.[1] ?? 'quiet';
}

/** The icon of a phase, for use beside its name. */
export function PhaseIcon({ phase, size = 14 }: { phase: string; size?: number }) {
  const [Icon, tone] = looks[phase] ?? [CircleDashed, 'quiet'];
  return (
    <Icon className={`icon tone-${tone}${phase === 'Running' ? ' turning' : ''}`} size={size} aria-hidden />
  );
}

/** A phase with colour and icon, so that neither is the only cue. */
export function Phase({ phase, label = phase }: { phase: string; label?: string }) {
  return (
    <span className={`badge tone-${toneOf(phase)}`}>
      <PhaseIcon phase={phase} size={13} />
      {label}
    </span>
  );
}

/** A tag that is not a phase, such as a type or a side. */
export function Chip({ children, tone = 'quiet' }: { children: React.ReactNode; tone?: Tone | 'accent' }) {
  return <span className={`chip tone-${tone}`}>{children}</span>;
}
