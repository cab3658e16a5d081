import { Search } from 'lucide-react';
import { PhaseIcon } from './phase.tsx';

/** A text field that filters a list. */
export function FilterField({
  label,
  value,
  onChange,
}: {
  label: string;
  value: string;
  onChange(value: string): void;
}) {
  return (
    <label className="field search">
      <Search size={14} aria-hidden />
      <input
        type="search"
        aria-label={label}
        placeholder={label}
        value={value}
        maxLength={253}
        onChange={(event) => onChange(event.target.value)}
      />
    </label>
  );
}

interface PhasesProps {
  label: string;
  counts: ReadonlyMap<string, number>;
  /** Comma-separated names. */
  chosen: string;
  onChange(chosen: string): void;
  /** Display names that differ from the phase. */
  names?: Readonly<Record<string, string>>;
}

/** Toggles for phases, each with its number of rows. */
export function PhaseFilter({ label, counts, chosen, onChange, names: called = {} }: PhasesProps) {
  const names = new Set(chosen.split(',').filter(Boolean));
  const toggle = (name: string) => {
    const next = new Set(names);
    if (!next.delete(name)) next.add(name);
    onChange([...next].join(','));
  };
  const shown = [...new Set([...counts.keys(), ...names])];
  return (
    <fieldset className="toggles" aria-label={label}>
      {shown.map((name) => (
        <button
          key={name}
          type="button"
          className="toggle"
          aria-pressed={names.has(name)}
          onClick={() => toggle(name)}
        >
          <PhaseIcon phase={name} size={13} />
          {called[name] ?? name}
          <span className="count">{(counts.get(name) ?? 0).toLocaleString()}</span>
        </button>
      ))}
    </fieldset>
  );
}

const phaseOrder = [
  'broken',
  'unknown',
  'ready',
  'Running',
  'Failed',
  'Error',
  'Invalid',
  'Pending',
  'Queued',
  'Active',
  'Scheduled',
  'Suspended',
  'Succeeded',
  'Cancelled',
  'Stopped',
];

/** Counts rows per phase, in order of urgency. */
export function countsOf(phases: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const phase of phases) counts.set(phase, (counts.get(phase) ?? 0) + 1);
  const place = (phase: string) =>
    (phaseOrder.indexOf(phase) + phaseOrder.length + 1) % (phaseOrder.length + 1);
  return new Map([...counts].sort(([a], [b]) => place(a) - place(b)));
}
