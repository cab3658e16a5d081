import { Compass } from 'lucide-react';
import { type ComponentType, lazy, Suspense } from 'react';
import { Link, Route, Switch } from 'wouter';
import { useTopic } from './data/topic.ts';
import { OrdersPage } from './pages/orders.tsx';
import { OverviewPage } from './pages/overview.tsx';
import { Empty, Loading } from './parts/states.tsx';
import type { PlaceHref } from './shell/places.ts';

// Rarely used or large pages are loaded lazily.
const OrderPage = lazy(() => import('./order/order-page.tsx'));
const NewOrderPage = lazy(() => import('./new-order/new-order.tsx'));

/** The pages of the navigation. */
const pages: Readonly<Record<PlaceHref, ComponentType>> = {
  '/': OverviewPage,
  '/orders': OrdersPage,
  '/bundles': lazy(() => import('./pages/bundles.tsx')),
  '/events': lazy(() => import('./pages/events.tsx')),
  '/endpoints': lazy(() => import('./pages/endpoints.tsx')),
  '/types': lazy(() => import('./pages/types.tsx')),
  '/settings': lazy(() => import('./pages/settings.tsx')),
  '/doctor': lazy(() => import('./pages/doctor.tsx')),
};

/** Maps URLs to pages. */
export function Pages() {
  return (
    <Suspense fallback={<Loading />}>
      <Switch>
        {Object.entries(pages).map(([path, page]) => (
          <Route key={path} path={path} component={page} />
        ))}
        <Route path="/new" component={NewOrderPage} />
        <Route path="/orders/:namespace/:name/:tab?">
          {({ namespace, name, tab }) => (
            <OrderPage key={`${namespace}/${name}`} {...{ namespace, name }} tab={tab ?? 'artifacts'} />
          )}
        </Route>
        <Route component={NoPage} />
      </Switch>
    </Suspense>
  );
}

function NoPage() {
  useTopic('pulse');
  return (
    <Empty isPage icon={<Compass size={28} aria-hidden />} title="Page not found">
      <Link href="/orders" className="button">
        To the Orders
      </Link>
    </Empty>
  );
}
