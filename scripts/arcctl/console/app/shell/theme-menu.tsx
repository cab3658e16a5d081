import { Monitor, Moon, Sun } from 'lucide-react';
import { useState } from 'react';
import { ActionMenu } from '../parts/menu.tsx';

const themes = [
  { name: 'system', label: 'System', icon: Monitor },
  { name: 'light', label: 'Light', icon: Sun },
  { name: 'dark', label: 'Dark', icon: Moon },
] as const;

type Theme = (typeof themes)[number]['name'];

/** Selects light, dark or the system theme; theme.ts applies the choice before the next first paint. */
export function ThemeMenu() {
  const [theme, setTheme] = useState<Theme>(() => {
    const { theme: set } = document.documentElement.dataset;
    return set === 'light' || set === 'dark' ? set : 'system';
  });
  const choose = (next: Theme) => {
    setTheme(next);
    if (next === 'system') delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = next;
    // Storage may be blocked: then the choice lasts until the page is closed.
    try {
      localStorage.setItem('arc-theme', next);
    } catch {}
    dispatchEvent(new Event('arc-theme'));
  };
  const { icon: Icon } = themes.find(({ name }) => name === theme) ?? themes[0];
  return (
    <ActionMenu
      trigger={
        <button type="button" className="icon-button" aria-label="Theme" title="Theme">
          <Icon size={16} aria-hidden />
        </button>
      }
      groups={[
        themes.map(({ name, label, icon: Each }) => ({
          label,
          icon: <Each size={14} aria-hidden />,
          isChosen: name === theme,
          onSelect: () => choose(name),
        })),
      ]}
    />
  );
}
