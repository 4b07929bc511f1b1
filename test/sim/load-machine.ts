import {afterAll, vi} from 'vitest';

/**
 * The machine, with the simulation's databases in place of SQLite's driver. All of src is loaded anew for it, and again
 * for the tests after it, which share the process.
 */
export async function loadMachine() {
  vi.doMock('libsql', async () => ({default: (await import('./world/install.ts')).SimulatedDatabase}));
  for (const name of ['bullmq', 'ioredis']) vi.doMock(name, () => import('./world/fleet-packages.ts'));
  vi.resetModules();
  afterAll(() => {
    for (const name of ['libsql', 'bullmq', 'ioredis']) vi.doUnmock(name);
    vi.resetModules();
  });
  return await import('./machine.ts');
}
