import { Dialog } from '@base-ui/react/dialog';
import { Menu as MenuIcon, Search } from 'lucide-react';
import { type ReactNode, useEffect, useState } from 'react';
import { Link, useLocation } from 'wouter';
import type { Session } from '../../api.ts';
import { readSession } from '../data/request.ts';
import { Boundary } from '../parts/boundary.tsx';
import { ConnectionState } from './connection-state.tsx';
import { Palette } from './palette.tsx';
import { groups, places } from './places.ts';
import { ShortcutSheet, useShortcuts } from './shortcuts.tsx';
import { ThemeMenu } from './theme-menu.tsx';
import { ChooseNamespace, ViewerMenu } from './viewer.tsx';

/** Delay before the session is requested again after a failure. */
const retryMs = 3_000;

/** The layout around each page. */
export function Shell({ server, children }: { server: string; children: ReactNode }) {
  const [isSheetOpen, setSheetOpen] = useState(false);
  const [isPaletteOpen, setPaletteOpen] = useState(false);
  const session = useSession();
  const [location, navigate] = useLocation();
  useShortcuts({
    places,
    navigate,
    openHelp: () => setSheetOpen(true),
    openPalette: () => setPaletteOpen(true),
  });
  useEffect(() => {
    const page = places.find(({ href }) => (href === '/' ? location === '/' : location.startsWith(href)));
    const [, kind, namespace, name] = location.split('/');
    document.title = `${kind === 'orders' && name ? `${namespace}/${name}` : (page?.name ?? 'New Order')} · ARC`;
  }, [location]);
  return (
    <div className="shell">
      <a className="skip" href="#main">
        Skip to the content
      </a>
      <aside className="sidebar">
        <Brand />
        <Navigation location={location} />
        <Foot server={server} session={session} />
      </aside>
      <div className="column">
        <div className="topbar">
          <Drawer location={location} server={server} session={session} />
          <button type="button" className="search-button" onClick={() => setPaletteOpen(true)}>
            <Search size={14} aria-hidden />
            <span>Search or jump to…</span>
            <kbd>Ctrl K</kbd>
          </button>
          <ConnectionState />
          <ThemeMenu />
          {session && <ViewerMenu session={session} />}
          <button
            type="button"
            className="icon-button"
            aria-label="Keyboard shortcuts"
            title="Keyboard shortcuts"
            onClick={() => setSheetOpen(true)}
          >
            <kbd>?</kbd>
          </button>
        </div>
        <main id="main" tabIndex={-1}>
          <Boundary of={location}>{session?.viewer?.mustChoose ? <ChooseNamespace /> : children}</Boundary>
        </main>
      </div>
      <ShortcutSheet isOpen={isSheetOpen} onClose={() => setSheetOpen(false)} places={places} />
      <Palette isOpen={isPaletteOpen} onClose={() => setPaletteOpen(false)} places={places} />
    </div>
  );
}

/** Returns the session of this page, requested until the server responds. */
function useSession(): Session | undefined {
  const [session, setSession] = useState<Session>();
  useEffect(() => {
    let retry: ReturnType<typeof setTimeout> | undefined;
    const ask = () =>
      void readSession().then(setSession, () => {
        retry = setTimeout(ask, retryMs);
      });
    ask();
    return () => clearTimeout(retry);
  }, []);
  return session;
}

function Brand() {
  return (
    <Link href="/" className="brand">
      <svg viewBox="0 0 32 32" width="24" height="24" aria-hidden="true">
        <rect width="32" height="32" rx="8" className="brand-back" />
        <path d="M8 22c0-8 4-12 8-12s8 4 8 12" className="brand-arc" />
        <circle cx="8" cy="22" r="2.8" className="brand-from" />
        <circle cx="24" cy="22" r="2.8" className="brand-to" />
      </svg>
      <span>
        ARC <small>Artifact Conduit</small>
      </span>
    </Link>
  );
}

function Navigation({ location, onGo }: { location: string; onGo?: () => void }) {
  return (
    <nav aria-label="Pages" className="nav">
      {groups.map(({ head, places: some }) => (
        <div key={head}>
          <p className="nav-head">{head}</p>
          <ul>
            {some.map(({ href, name, icon: Icon }) => {
              const isHere = href === '/' ? location === '/' : location.startsWith(href);
              return (
                <li key={href}>
                  <Link
                    href={href}
                    className="nav-link"
                    aria-current={isHere ? 'page' : undefined}
                    {...(onGo && { onClick: onGo })}
                  >
                    <Icon size={16} aria-hidden />
                    {name}
                  </Link>
                </li>
              );
            })}
          </ul>
        </div>
      ))}
    </nav>
  );
}

function Foot({ server, session }: { server: string; session: Session | undefined }) {
  return (
    <div className="foot">
      <p title={server}>{server.replace(/^https?:\/\//, '')}</p>
      <p className="quiet">
        {session ? `${session.namespace ?? 'all namespaces'} · v${session.version}` : ' '}
      </p>
    </div>
  );
}

function Drawer({
  location,
  server,
  session,
}: {
  location: string;
  server: string;
  session: Session | undefined;
}) {
  const [isOpen, setOpen] = useState(false);
  return (
    <Dialog.Root open={isOpen} onOpenChange={setOpen}>
      <Dialog.Trigger className="icon-button drawer-button" aria-label="Pages">
        <MenuIcon size={18} aria-hidden />
      </Dialog.Trigger>
      <Dialog.Portal>
        <Dialog.Backdrop className="backdrop" />
        <Dialog.Popup className="drawer" aria-label="Pages">
          <Brand />
          <Navigation location={location} onGo={() => setOpen(false)} />
          <Foot server={server} session={session} />
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  );
}
