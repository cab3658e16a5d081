import { Compass } from 'lucide-react';
import { lazy, Suspense } from 'react';
import { Link, Route, Switch } from 'wouter';
import { useTopic } from './data/topic.ts';
import { OrdersPage } from './pages/orders.tsx';
import { OverviewPage } from './pages/overview.tsx';
import { Empty, Loading } from './parts/states.tsx';

// Rarely used or large pages are loaded lazily.
const OrderPage = lazy(() => import('./order/order-page.tsx'));
const EndpointsPage = lazy(() => import('./pages/endpoints.tsx'));
const TypesPage = lazy(() => import('./pages/types.tsx'));
const BundlesPage = lazy(() => import('./pages/bundles.tsx'));
const EventsPage = lazy(() => import('./pages/events.tsx'));
const SettingsPage = lazy(() => import('./pages/settings.tsx'));
const DoctorPage = lazy(() => import('./pages/doctor.tsx'));
const NewOrderPage = lazy(() => import('./new-order/new-order.tsx'));

/** Maps URLs to pages. */
export function Pages() {
  return (
    <Suspense fallback={<Loading />}>
      <Switch>
        <Route path="/" component={OverviewPage} />
        <Route path="/orders" component={OrdersPage} />
        <Route path="/new" component={NewOrderPage} />
        <Route path="/orders/:namespace/:name/:tab?">
          {({ namespace, name, tab }) => (
            <OrderPage key={`${namespace}/${name}`} {...{ namespace, name }} tab={tab ?? 'artifacts'} />
          )}
        </Route>
        <Route path="/endpoints" component={EndpointsPage} />
        <Route path="/types" component={TypesPage} />
        <Route path="/bundles" component={BundlesPage} />
        <Route path="/events" component={EventsPage} />
        <Route path="/settings" component={SettingsPage} />
        <Route path="/doctor" component={DoctorPage} />
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
