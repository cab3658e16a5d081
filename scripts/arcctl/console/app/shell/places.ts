import {
  Activity,
  Boxes,
  HeartPulse,
  LayoutDashboard,
  type LucideIcon,
  Network,
  Package,
  Settings2,
  Shapes,
} from 'lucide-react';

/** A page in the navigation. */
export interface Place {
  href: string;
  name: string;
  icon: LucideIcon;
  /** Shortcut key after g. */
  key: string;
}

export const groups = [
  {
    head: 'Work',
    places: [
      { href: '/', name: 'Overview', icon: LayoutDashboard, key: 'h' },
      { href: '/orders', name: 'Orders', icon: Package, key: 'o' },
      { href: '/bundles', name: 'Bundles', icon: Boxes, key: 'b' },
      { href: '/events', name: 'Events', icon: Activity, key: 'v' },
    ],
  },
  {
    head: 'Configuration',
    places: [
      { href: '/endpoints', name: 'Endpoints', icon: Network, key: 'e' },
      { href: '/types', name: 'Types', icon: Shapes, key: 't' },
      { href: '/settings', name: 'Settings', icon: Settings2, key: 's' },
      { href: '/doctor', name: 'Doctor', icon: HeartPulse, key: 'd' },
    ],
  },
] as const satisfies readonly { head: string; places: readonly Place[] }[];

/** Every href of the navigation. */
export type PlaceHref = (typeof groups)[number]['places'][number]['href'];

export const places: readonly Place[] = groups.flatMap((group) => [...group.places]);
