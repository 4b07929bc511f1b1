/** What keeps the service from starting, in words for the person who starts it: a file, a line, a setting. */
export class ServiceSetupError extends Error {
  override readonly name = 'ServiceSetupError';
}
