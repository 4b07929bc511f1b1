/**
 * The service can't start. The message tells the person who starts it which file, line or setting is wrong. Nothing was
 * started, and starting it again without a change fails the same way.
 */
export class ServiceSetupError extends Error {
  override readonly name = 'ServiceSetupError';
  readonly code = 'service_setup';
}
