/** The listener: TLS with optional client certificates, limits on connections, an orderly end. */
export { type Certificate, type ServeOptions, type Serving, serve } from './serve.ts';
