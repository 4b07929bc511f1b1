import type {Service, ServiceOptions} from '../service/start.ts';

/**
 * Starts the embedded service, whose data is loaded with it.
 *
 * @throws {BulkEnrichError} when an option is not valid.
 */
export async function startService(options?: ServiceOptions): Promise<Service> {
  return (await import('../service/start.ts')).startService(options);
}
