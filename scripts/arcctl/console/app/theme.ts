/** Sets the theme before the first paint, to avoid a flash. A separate file, because the Content Security Policy forbids inline scripts. */

// Storage may be blocked; then the system theme applies.
try {
  const theme = localStorage.getItem('arc-theme');
  if (theme === 'light' || theme === 'dark') document.documentElement.dataset.theme = theme;
} catch {}
