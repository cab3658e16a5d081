import { Menu } from '@base-ui/react/menu';
import { Check } from 'lucide-react';
import type { ReactElement, ReactNode } from 'react';

export interface MenuEntry {
  label: string;
  icon?: ReactNode;
  /** Description below the label. */
  hint?: string;
  isDangerous?: boolean;
  isChosen?: boolean;
  onSelect(): void;
}

/** A menu with groups; dangerous actions are in the last group. */
export function ActionMenu({
  trigger,
  groups,
}: {
  trigger: ReactElement;
  groups: readonly (readonly MenuEntry[])[];
}) {
  const filled = groups.filter((group) => group.length > 0);
  return (
    <Menu.Root>
      <Menu.Trigger render={trigger} />
      <Menu.Portal container={document.getElementById('main')}>
        <Menu.Positioner positionMethod="fixed" sideOffset={6} align="end" className="layer">
          <Menu.Popup className="menu">
            {filled.map((group, index) => (
              <Menu.Group key={group[0]?.label} className="menu-group">
                {index > 0 && <Menu.Separator className="menu-line" />}
                {group.map(({ label, icon, hint, isDangerous, isChosen, onSelect }) => (
                  <Menu.Item
                    key={label}
                    className={`menu-item${isDangerous ? ' danger' : ''}`}
                    onClick={onSelect}
                  >
                    <span className="menu-icon">{isChosen ? <Check size={14} aria-hidden /> : icon}</span>
                    <span>
                      {label}
                      {hint && <small>{hint}</small>}
                    </span>
                  </Menu.Item>
                ))}
              </Menu.Group>
            ))}
          </Menu.Popup>
        </Menu.Positioner>
      </Menu.Portal>
    </Menu.Root>
  );
}
