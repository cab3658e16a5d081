/** Sets the theme before the first paint, so that a dark page never flashes. It is a file of its own: the page's policy allows no inline script. */

// Storage may be blocked; then the system decides.
try {
  const theme = localStorage.getItem('arc-theme');
  if (theme === 'light' || theme === 'dark') document.documentElement.dataset.theme = theme;
} catch {}
