// Compiles src and what plays it into one file for plain Node.js, with a simulated world in place of the real one.
import {cpSync, mkdirSync, statSync} from 'node:fs';
import {join} from 'node:path';
import {fileURLToPath} from 'node:url';
import {type Plugin, rolldown} from 'rolldown';

const root = fileURLToPath(new URL('../..', import.meta.url));
const world = join(root, 'test/sim/world');

/** Modules that src gets in place of packages, and of its own code, that reach real files and sockets. */
const SIMULATED = {
  bullmq: `export {Queue, QueueEvents, Worker} from '${world}/bullmq.ts'`,
  ioredis: `export {Redis} from '${world}/redis.ts'`,
  libsql: `export {SimulatedDatabase as default} from '${world}/install.ts'`,
  './http/transport.ts': `export {simulatedTransport as createTransport} from '${world}/install.ts'`,
};

const isSimulated = (id: string, importer: string | undefined): id is keyof typeof SIMULATED =>
  id in SIMULATED && importer?.startsWith(join(root, 'src')) === true;

const inPlace: Plugin = {
  name: 'in place of what is real',
  resolveId: (id, importer) => (isSimulated(id, importer) ? `\0${id}` : undefined),
  load: id => SIMULATED[id.slice(1) as keyof typeof SIMULATED],
};

/** This process's flags of V8, for one that plays: they take a sixth of its time away. Vitest adds flags without a value. */
export const v8Flags = process.execArgv.filter(flag => flag.includes('='));

/** A fault planted in a file of src: `to` in place of `from`. */
type Fault = Readonly<Record<'file' | 'from' | 'to', string>>;

const planted = ({file, from, to}: Fault): Plugin => ({
  name: 'a planted fault',
  transform(code, id) {
    if (id !== join(root, 'src', file)) return undefined;
    if (code.split(from).length !== 2) throw new Error(`${file} has not exactly one ${JSON.stringify(from)}`);
    return code.replace(from, () => to);
  },
});

/** Returns what was compiled, and the directory of its own that it is in. */
export async function compile(name: string, input = 'test/sim/machine.ts', fault?: Fault) {
  const out = join(root, 'node_modules', '.sim', name);
  const bundle = await rolldown({
    input: join(root, input),
    platform: 'node',
    external: (id, importer) => /^[a-z@]/.test(id) && !isSimulated(id, importer),
    plugins: [inPlace, fault && planted(fault)],
    checks: {ineffectiveDynamicImport: false},
  });
  const file = join(out, 'all', 'of', 'machine.js');
  await bundle.write({file, format: 'esm', codeSplitting: false});
  // The lists that src reads are beside its modules.
  const isList = (path: string) => statSync(path).isDirectory() || path.endsWith('.csv');
  cpSync(join(root, 'src/operations'), join(out, 'all/operations'), {recursive: true, filter: isList});
  // Two directories above, as it is for src.
  mkdirSync(out, {recursive: true});
  cpSync(join(root, 'package.json'), join(out, 'package.json'));
  return {directory: out, file};
}
