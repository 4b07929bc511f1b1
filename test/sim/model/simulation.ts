import {Databases} from '../world/databases.ts';
import {Disk, type Inode, isDatabase} from '../world/disk.ts';
import {Files} from '../world/files.ts';
import {install} from '../world/install.ts';
import {ROOT} from '../world/patched-fs.ts';
import {Process} from '../world/process.ts';
import {type Asker, type Call, Service} from '../world/service.ts';
import {World} from '../world/world.ts';
import {Fleet} from './fleet.ts';
import {accountFiles, directories, inputPath, inputText, keys} from './places.ts';
import type {Command, Course, InputRow, RunSpec, Sequence} from './sequences.ts';
import {type Report, type Said, session} from './session.ts';

/** The files of the disk, by path; databases by their name alone. */
export type Snapshot = ReadonlyMap<string, Buffer>;

/** A session that has ended, and what can be seen of it. */
export interface Ended {
  /** Of the sequence's sessions. */
  readonly nth: number;
  readonly spec: RunSpec;
  readonly course: Course;
  readonly process: Process;
  readonly startedMs: number;
  readonly startedAt: number;
  readonly endedMs: number;
  readonly end: Said['end'] | 'killed';
  /** Undefined if it was killed. */
  readonly said: Said | undefined;
  readonly warnings: readonly string[];
  /** Rows that a program got back. */
  readonly rows: readonly object[];
  readonly calls: readonly Call[];
  /** The number of calls that the service had seen when it ended. */
  readonly callsByThen: number;
  /** The list, as it was. */
  readonly input: string;
  readonly before: Snapshot;
  readonly after: Snapshot;
  /** Possible contents of the disk before it: also what outlived a power cut. */
  readonly stood: readonly Snapshot[];
  /** The files that certainly outlive a power cut. */
  readonly lasting: Snapshot;
  /** The ledger that it worked with. */
  readonly ledger: Inode | undefined;
  /** True if no other session was active. */
  readonly isAlone: boolean;
}

const QUIET: Course = {faults: [], latencyMs: 20, fate: undefined, disk: undefined, clock: undefined};
const HOUR_MS = 3_600_000;
/** Longer than any trouble of a disk. */
const CALM_MS = 120_000;
/** So long workers go on before a long time passes. */
const LINGER_MS = 10_000;

/** A world with a disk and a service, in which commands are carried out one after the other. */
export class Simulation {
  readonly world: World;
  readonly disk = new Disk(ROOT);
  readonly service: Service;
  readonly sessions: Ended[] = [];
  readonly accountPerDay: number | undefined;
  readonly fleet: Fleet | undefined;
  isHealing = false;
  /** The lists as their owner left them. */
  readonly #inputs: InputRow[][];
  readonly #askers = new Map<Process | undefined, Asker>();
  readonly #databases: Databases;
  readonly #uninstall: () => void;
  #last: RunSpec | undefined;
  /** Number of the command under way. */
  #commands = -1;
  /** The first statement that wrote a key to a database. */
  #keptKey: string | undefined;

  constructor(seed: number, {inputs, accountPerDay, fleet}: Omit<Sequence, 'commands'>) {
    this.accountPerDay = accountPerDay;
    this.#inputs = inputs.map(rows => [...rows]);
    this.world = new World(seed);
    this.world.onPowerCut = () => this.disk.cutPower(this.world.random);
    this.service = new Service(this.world);
    this.fleet = fleet && new Fleet(fleet, this.world, this.service, session => this.#asker(session));
    this.#databases = new Databases(this.disk, this.world, {
      opened: (path, inode, process) => {
        if (path.endsWith('/ledger.db')) process.ledger = inode;
      },
      written: (sql, values) => {
        if (values.some(holdsKey)) this.#keptKey ??= sql;
      },
    });
    for (const path of directories) this.disk.makeDirectory(path);
    for (const index of inputs.keys()) this.#writeInput(index);
    for (const [path, text] of accountPerDay === undefined ? [] : accountFiles(accountPerDay))
      this.disk.create(path, 0o644).data = Buffer.from(text);
    this.disk.syncAll();
    this.#uninstall = install(this.world, {
      files: new Files(this.disk, this.world),
      databases: this.#databases,
      network: this.service.transportFor(() => this.#asker(this.world.current)),
      redis: this.fleet?.redis,
    });
  }

  close(): void {
    this.#uninstall();
    this.#databases.close();
  }

  /** Carries a command out; returns its sessions, once they have ended. */
  async execute(command: Command): Promise<readonly Ended[]> {
    this.world.note(`== ${JSON.stringify(command)}`);
    this.#commands += 1;
    switch (command.do) {
      case 'run':
        this.#last = command.spec;
        return this.#run([{spec: command.spec, course: command.course}], 0);
      case 'again':
        if (this.#last === undefined) return [];
        this.#last = {...this.#last, ...command.changes};
        return this.#run([{spec: this.#last, course: command.course}], 0);
      case 'both': {
        const {courses, apartMs, other} = command;
        if (this.#last === undefined) return [];
        // Two loops of a program each read their summary at their end: it must not be the other's.
        const own = this.#last.way === 'rows' ? {output: 1 - this.#last.output} : {};
        const specs = [this.#last, {...this.#last, ...other, ...own}] as const;
        return this.#run(
          specs.map((spec, nth) => ({spec, course: courses[nth] ?? QUIET})),
          apartMs,
        );
      }
      case 'later':
        await this.fleet?.end(LINGER_MS);
        this.world.stall(command.hours * HOUR_MS);
        return [];
      case 'clock':
        this.world.stepClock(command.hours * HOUR_MS);
        return [];
      case 'list': {
        const rows = command.how === 'append' ? (this.#inputs[command.input] ?? []) : [];
        this.#inputs[command.input] = [...rows, ...command.rows];
        this.#writeInput(command.input);
        return [];
      }
      default:
        return command satisfies never;
    }
  }

  /** The last command once more, with nothing in its way. */
  async heal(): Promise<readonly Ended[]> {
    if (this.#last === undefined) return [];
    const spec = {...this.#last, force: true, maxCredits: undefined, until: undefined};
    await this.fleet?.end(LINGER_MS);
    this.world.stall(CALM_MS);
    this.isHealing = true;
    for (const [path] of accountFiles(0)) this.disk.remove(path);
    this.world.note(`== heal ${JSON.stringify(spec)}`);
    const ended = await this.#run([{spec, course: QUIET}], 0);
    // The run before is another account's, which its owner gives up.
    if (ended[0]?.said?.reason !== 'state_of_other') return ended;
    return this.#run([{spec: {...spec, restart: true}, course: QUIET}], 0);
  }

  /** The place of a key that others can see. */
  keySeenIn({after, said, warnings}: Ended): string | undefined {
    return (
      [said?.message ?? '', ...warnings].find(holdsKey) ??
      [...after].find(([, data]) => holdsKey(data))?.[0] ??
      [...(this.fleet?.redis.jobs.values() ?? [])].find(({data}) => holdsKey(data.sealed))?.id ??
      this.#keptKey
    );
  }

  inputBytes(): ReadonlyMap<string, Buffer> {
    return new Map(
      this.#inputs.map((rows, input) => [inputPath(input), Buffer.from(inputText(rows, input))]),
    );
  }

  #asker(process: Process | undefined): Asker {
    const asker = this.#askers.get(process);
    if (asker === undefined) throw new Error('no session has asked');
    return asker;
  }

  #writeInput(index: number): void {
    const path = inputPath(index);
    const inode = this.disk.files.get(path) ?? this.disk.create(path, 0o644);
    inode.data = Buffer.from(inputText(this.#inputs[index] ?? [], index));
    this.disk.syncAll();
  }

  #snapshot(): Snapshot {
    const dataOf = (path: string, {data}: Inode) => (isDatabase(path) ? NOTHING : data);
    return new Map([...this.disk.files].map(([path, inode]) => [path, dataOf(path, inode)]));
  }

  async #run(works: readonly {spec: RunSpec; course: Course}[], apartMs: number): Promise<Ended[]> {
    const before = this.#snapshot();
    const {lasting: lastingBefore, powerCuts} = this.disk;
    this.fleet?.begin(this.isHealing ? Number.NaN : this.#commands);
    const begun = works.map((work, index) => this.#begin(work, index * apartMs));
    await this.world.run(begun.map(({start}) => start));
    if (this.fleet?.crash !== undefined) throw this.fleet.crash;
    const after = this.#snapshot();
    const {lasting} = this.disk;
    const stood = this.disk.powerCuts > powerCuts ? [before, lastingBefore] : [before];
    const ended = begun.map(({spec, course, process, report, seen}, index): Ended => {
      const said = process.killed ? undefined : report.said;
      return {
        nth: this.sessions.length + index + 1,
        ...{spec, course, process, said, before, after, stood, lasting, ...seen},
        end: said?.end ?? 'killed',
        warnings: report.warnings,
        rows: report.rows,
        calls: this.service.calls.filter(call => call.process === process),
        // One that found an earlier run complete has only read that run's ledger.
        ledger: said?.end === 'complete' ? undefined : process.ledger,
        isAlone: works.length === 1,
      };
    });
    this.sessions.push(...ended);
    for (const {nth, said} of ended)
      this.world.note(`== ${nth} ${said ? `ended with ${said.code}: ${said.message}` : 'was killed'}`);
    return ended;
  }

  #begin({spec, course}: {readonly spec: RunSpec; readonly course: Course}, afterMs: number) {
    const {world} = this;
    const process = new Process(`session ${this.sessions.length + 1}${afterMs > 0 ? 'b' : ''}`, course.fate);
    const report: Report = {warnings: [], rows: []};
    const input = inputText(this.#inputs[spec.input] ?? [], spec.input);
    const seen = {input, startedMs: 0, startedAt: 0, endedMs: 0, callsByThen: 0};
    this.#askers.set(process, {process, spec, course, calls: 0});
    process.handles.add(() => {
      seen.endedMs = world.nowMs;
      seen.callsByThen = this.service.calls.length;
    });
    const main = async () => {
      seen.startedMs = world.nowMs;
      seen.startedAt = world.wallMs;
      const {disk, clock} = course;
      if (clock) world.later(clock.afterMs, () => world.stepClock(clock.seconds * 1_000));
      const fromMs = world.nowMs + (disk?.afterMs ?? 0);
      if (disk) this.disk.trouble = {code: disk.code, fromMs, untilMs: fromMs + disk.seconds * 1_000};
      await session(spec, input, {process, world, report});
      if (report.crash !== undefined && !process.killed) throw report.crash;
    };
    return {spec, course, process, report, seen, start: {process, main, afterMs}};
  }
}

function holdsKey(text: unknown): boolean {
  if (typeof text !== 'string' && !Buffer.isBuffer(text)) return false;
  return keys.some(key => text.includes(key));
}

const NOTHING = Buffer.alloc(0);
