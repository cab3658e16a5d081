import { ChevronsUpDown } from 'lucide-react';

export interface Choice {
  value: string;
  label: string;
}

interface PickProps {
  label: string;
  value: string;
  choices: readonly Choice[];
  onChange(value: string): void;
  id?: string;
}

/** A select box: the native element has the best support for keyboards, screen readers and phones. */
export function Pick({ label, value, choices, onChange, id }: PickProps) {
  return (
    <span className="select">
      <select
        aria-label={label}
        value={value}
        onChange={(event) => onChange(event.target.value)}
        {...(id && { id })}
      >
        {choices.map((choice) => (
          <option key={choice.value} value={choice.value}>
            {choice.label}
          </option>
        ))}
      </select>
      <ChevronsUpDown size={13} aria-hidden />
    </span>
  );
}
