import type {Service, ServiceOptions} from '../service/start.ts';

/**
 * Starts the embedded service and loads its data.
 *
 * @throws {BulkEnrichError} if an option is not valid.
 */
export async function startService(options?: ServiceOptions): Promise<Service> {
  return (await import('../service/start.ts')).startService(options);
}
