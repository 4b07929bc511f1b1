import {mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync} from 'node:fs';
import {createServer, type Socket} from 'node:net';
import {tmpdir} from 'node:os';
import {dirname, join} from 'node:path';
import {setImmediate as nextTurn} from 'node:timers/promises';
import {fileURLToPath} from 'node:url';
import {expect} from 'vitest';
import {classifyResponse} from '../../src/client/classify.ts';
import {createClient} from '../../src/client/client.ts';
import {createRedactor} from '../../src/client/redact.ts';
import {BulkEnrichError} from '../../src/errors.ts';
import {createSeal} from '../../src/fleet/protocol.ts';
import {jsonMembers} from '../../src/input/records/json-reader.ts';
import {checkSettings, readJobFile} from '../../src/job/parse.ts';
import {Ledger} from '../../src/ledger/run/ledger.ts';
import {newEntry, noAttempts} from '../../src/ledger/run/ledger-entry.ts';
import {operationNames} from '../../src/operations/table.ts';
import {readBytes} from '../input/reading.ts';
import {condition} from '../score/score-helpers.ts';
import {listen} from '../support/free-port.ts';

/** Reads bytes that a stranger may have written; a refusal is a {@link BulkEnrichError}. */
export interface Parser {
  readonly name: string;
  /** The seeds: the files of the corpus whose names begin so, or these bytes. */
  readonly corpus: string | readonly Buffer[];
  readonly read: (bytes: Buffer) => unknown;
  /** Reading costs much more than the others'. */
  readonly slow?: true;
}

const corpus = fileURLToPath(new URL('corpus/', import.meta.url));
const KEY = 'canary-key-of-two-dozen-letters';
const CHANGES = Buffer.from('\x20\0a\x60\0\xff\x80\0\xc3', 'latin1');
const SMALL_RECORDS = {maxRecordSize: 4_096};
const facts = {
  row: {amount: '7', country: 'DE', email: 'somebody@example.com', tags: ['x', 'y', 'z']},
  ip: {is_vpn: true},
  risk: {score: 31},
};

/** The corpus of a parser. */
export function seedsOf({corpus: name}: Parser): readonly Buffer[] {
  if (typeof name !== 'string') return name;
  const files = readdirSync(corpus).filter(file => file.startsWith(`${name}.`));
  return files.map(file => readFileSync(join(corpus, file)));
}

/** Reads one input, and lets refusals pass. */
export async function survives({read}: Parser, bytes: Buffer): Promise<void> {
  try {
    await read(bytes);
  } catch (error) {
    if (error instanceof BulkEnrichError) return;
    throw error;
  }
}

export async function openParsers() {
  const directory = mkdtempSync(join(tmpdir(), 'bulk-enrich-fuzz-'));
  const file = (bytes: Buffer) => {
    writeFileSync(join(directory, 'job.yaml'), bytes);
    return join(directory, 'job.yaml');
  };
  const wire = await startWire();
  const seal = createSeal(KEY);
  const sound = await ledgerBytes(directory);
  const openLedger = (bytes: Buffer) => openLedgerOf(directory, bytes);
  const all: Parser[] = [
    {name: 'CSV', corpus: 'csv', read: bytes => readBytes(bytes, SMALL_RECORDS)},
    {name: 'NDJSON', corpus: 'ndjson', read: bytes => readBytes(bytes, SMALL_RECORDS, 7)},
    {name: 'JSON members', corpus: 'members', read: bytes => expectMembers(bytes.toString())},
    {name: 'answers', corpus: 'answer', read: classified},
    {name: 'HTTP', corpus: 'wire', read: bytes => wire.answeredWith(bytes), slow: true},
    {name: 'job files', corpus: 'job', read: bytes => checkSettings(readJobFile(file(bytes)), {})},
    {name: 'CEL', corpus: 'cel', read: bytes => condition(bytes.toString()).decide(facts)},
    {name: 'ledgers', corpus: [sound], read: openLedger, slow: true},
    {
      name: 'pages of ledgers',
      corpus: [CHANGES],
      read: bytes => openLedger(overwritten(sound, bytes)),
      slow: true,
    },
    {name: 'sealed chunks', corpus: 'sealed', read: bytes => seal.open(bytes.toString(), 'chunk')},
  ];
  return {
    all,
    async [Symbol.asyncDispose]() {
      await wire.close();
      rmSync(directory, {recursive: true, force: true});
    },
  };
}

/** Valid JSON is split into members that are valid JSON. */
function expectMembers(text: string): void {
  let whole: unknown;
  try {
    whole = JSON.parse(text);
  } catch {
    return;
  }
  if (typeof whole !== 'object' || whole === null || Array.isArray(whole)) return;
  const members = [...jsonMembers(text)].map(([name, inner]) => [name, JSON.parse(inner) as unknown]);
  expect(Object.fromEntries(members)).toEqual(whole);
}

function classified(bytes: Buffer): void {
  const redact = createRedactor(KEY);
  for (const operation of operationNames)
    for (const status of [199, 200, 300, 401, 422, 503, 999]) {
      const response = {status, body: bytes.toString(), latencyMs: 1, pace: {limits: {}}};
      const attempt = classifyResponse(operation, response, {id: 'a'}, redact);
      if (attempt.kind === 'answered') expect(status).toBe(200);
      else if (attempt.kind !== 'unreadable') expect(attempt.code).toMatch(/^[\w.:-]{1,64}$/);
    }
}

/** A server that answers each connection with the bytes at hand, and a client that has to make something of them. */
async function startWire() {
  let answer: Uint8Array = Buffer.alloc(0);
  const server = createServer((socket: Socket) => {
    socket.on('error', () => {});
    socket.once('data', () => socket.end(answer));
  });
  const url = `http://127.0.0.1:${await listen(server)}`;
  return {
    async answeredWith(bytes: Buffer) {
      answer = bytes;
      const client = createClient({baseUrl: url, apiKey: KEY, timeoutMs: 900});
      try {
        const {kind} = await client.send('ip', {ip: '192.0.2.1'});
        expect(kind).toEqual(expect.any(String));
      } finally {
        client.close();
      }
    },
    close: () => new Promise<void>(resolve => server.close(() => resolve())),
  };
}

/** So many values are in the ledger. */
const VALUES = 60;

/** Values that were answered, those of another account among them, and one on its way. */
async function ledgerBytes(directory: string): Promise<Buffer> {
  const path = join(directory, 'seed.db');
  const attempt = {kind: 'answered', status: 200, latencyMs: 5, data: {}, unknownFields: [], wrongTypes: []};
  const outcome = {status: 'ok', data: '{"city":"Zürich","isp":"An Example"}', boughtAt: 1_000} as const;
  for (const scope of ['one', 'another']) {
    const ledger = new Ledger(path, {scope});
    for (let n = 0; n < VALUES; n++) {
      const fixed = {operation: 'ip', cost: 1, charge: 'spent', history: noAttempts, retry: false} as const;
      const call = {key: `key-${n}`, ...fixed};
      ledger.reserve([{...call, entry: newEntry(call), dispatch: 7}]);
      if (n > 0) await ledger.bookAttempt({...call, dispatch: 7, attempt: attempt as never, outcome});
    }
    if (scope === 'one') ledger.close();
    else ledger.abandon();
  }
  return readFileSync(path);
}

/** Single bytes are others: each three of `changes` say where, and what. */
function overwritten(sound: Buffer, changes: Buffer): Buffer {
  const bytes = Buffer.from(sound);
  for (let at = 0; at + 2 < changes.length; at += 3)
    bytes.writeUInt8(changes.readUInt8(at + 2), changes.readUInt16BE(at) % bytes.length);
  return bytes;
}

/**
 * As a file of its own: the driver lets go of one that could not be read when it pleases; of what that took in memory, in
 * a turn of the event loop after a collection.
 */
async function openLedgerOf(directory: string, bytes: Buffer): Promise<void> {
  const path = join(mkdtempSync(join(directory, 'run-')), 'ledger.db');
  writeFileSync(path, bytes);
  try {
    const ledger = new Ledger(path, {scope: 'one'});
    try {
      ledger.find(Array.from({length: VALUES}, (_, n) => `key-${n}`));
      ledger.beginCount({});
      ledger.close();
    } finally {
      ledger.abandon();
    }
  } finally {
    rmSync(dirname(path), {recursive: true});
    await nextTurn();
  }
}
