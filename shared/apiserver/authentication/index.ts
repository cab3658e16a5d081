/** Who asks, as an aggregated API server finds it out. */
export { type AuthenticatorOptions, createAuthenticator } from './authenticator.ts';
export { type AuthenticationConfig, parseAuthenticationConfig } from './config.ts';
export { type ConfigReader, type LiveConfigOptions, liveAuthenticationConfig } from './live-config.ts';
export { type ReviewToken, tokenReviewer } from './token-review.ts';
