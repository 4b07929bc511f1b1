import {spawn} from 'node:child_process';
import {fileURLToPath} from 'node:url';
import {expect, test} from 'vitest';
import {startApiServer} from '../support/api-server.ts';

const key = 'canary-key-5d20b7';
const library = new URL('../../dist/index.js', import.meta.url).href;

/** Makes calls, 64 at a time; collects the young generation twice under way and at the end, and tells what it had to keep. */
const program = `
  import {getHeapSpaceStatistics} from 'node:v8';
  const {createClient} = await import(${JSON.stringify(library)});
  const [baseUrl, calls] = process.argv.slice(1);
  const client = createClient({baseUrl, apiKey: ${JSON.stringify(key)}});
  const collect = () => { for (let n = 0; n < 2; n++) gc({type: 'minor'}); };
  const old = () => getHeapSpaceStatistics().find(({space_name}) => space_name === 'old_space').space_used_size;
  let sent = 0;
  let before = 0;
  await Promise.all(Array.from({length: 64}, async () => {
    while (sent < calls) {
      const n = sent++;
      // Calls in flight now are old from here on.
      if (n === 320) { collect(); before = old(); }
      const {kind} = await client.send('ip', {ip: \`198.51.\${n >> 8}.\${n & 255}\`});
      if (kind !== 'answered') throw new Error(kind);
    }
  }));
  collect();
  console.log(old() - before);
  client.close();
`;

/** How many bytes became old while so many calls were made. */
async function grownOld(baseUrl: string, calls: number): Promise<number> {
  const flags = ['--expose-gc', '--max-semi-space-size=128', '--min-semi-space-size=128'];
  const args = [...flags, '--input-type=module', '-e', program, baseUrl, String(calls)];
  const child = spawn(process.execPath, args, {cwd: fileURLToPath(new URL('.', import.meta.url))});
  let said = '';
  child.stdout.on('data', data => (said += String(data)));
  child.stderr.on('data', data => (said += String(data)));
  const code = await new Promise(resolve => child.on('close', resolve));
  expect(code, said).toBe(0);
  return Number(said);
}

// The streams of newer Nodes are kept by a closure of their own that is never young.
test.runIf(process.version.startsWith('v20.'))(
  'a call that has ended is gone with the next collection of young garbage, whatever is in flight',
  async () => {
    await using server = await startApiServer({key, keepValues: false});
    const [some, more] = [await grownOld(server.url, 600), await grownOld(server.url, 1_800)];
    // One call is some 13,000.
    expect((more - some) / 1_200).toBeLessThan(4_000);
  },
);
