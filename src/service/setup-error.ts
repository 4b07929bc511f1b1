/**
 * The service can't start. The message names the wrong file, line or setting. A second start without a change fails the
 * same way.
 */
export class ServiceSetupError extends Error {
  override readonly name = 'ServiceSetupError';
  readonly code = 'service_setup';
}
