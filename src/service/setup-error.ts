/**
 * What keeps the service from starting, in words for the person who starts it: a file, a line, a setting. Nothing was
 * started; the same again would fail the same way.
 */
export class ServiceSetupError extends Error {
  override readonly name = 'ServiceSetupError';
  readonly code = 'service_setup';
}
