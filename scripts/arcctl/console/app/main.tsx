import 'uplot/dist/uPlot.min.css';
import './style/tokens.css';
import './style/base.css';
import './style/shell.css';
import './style/parts.css';
import './style/pages.css';
import { CSPProvider } from '@base-ui/react/csp-provider';
import { Toast } from '@base-ui/react/toast';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { Toasts, toasts } from './parts/toasts.tsx';
import { Pages } from './routes.tsx';
import { Shell } from './shell/shell.tsx';

const root = document.getElementById('root');
if (root)
  createRoot(root).render(
    <StrictMode>
      <CSPProvider disableStyleElements>
        <Toast.Provider toastManager={toasts}>
          <Shell server={root.dataset.server ?? ''}>
            <Pages />
          </Shell>
          <Toasts />
        </Toast.Provider>
      </CSPProvider>
    </StrictMode>,
  );
