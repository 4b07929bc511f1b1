import type {RunRecord} from '../../../src/report/run-record.ts';
import {Databases} from '../world/databases.ts';
import {Disk, type Inode, isDatabase} from '../world/disk.ts';
import {Files} from '../world/files.ts';
import {install} from '../world/install.ts';
import {ROOT, TEMPORARY} from '../world/patched-fs.ts';
import {type Fate, type Moment, Process} from '../world/process.ts';
import {RedisServer} from '../world/redis.ts';
import {type Asker, Service} from '../world/service.ts';
import {World} from '../world/world.ts';
import {
  type Command,
  type Course,
  fitting,
  type InputRow,
  isOfProgram,
  isStream,
  type RunSpec,
  type Sequence,
} from './commands.ts';
import {earlierDays, ofToday} from './days.ts';
import {type Dialect, written} from './dialects.ts';
import {type Ended, type Snapshot, saidBy} from './ended.ts';
import {historyOf} from './history.ts';
import {
  accountPath,
  accountText,
  dayAt,
  directories,
  historyPath,
  inputPath,
  inputText,
  keyDirectory,
  keyPath,
  keys,
  links,
  listsOf,
  outputPath,
  secondAccountPath,
  secondAccountText,
  statePath,
  storePath,
} from './places.ts';
import {newReport, type Report, type Work} from './report.ts';
import {runCommand} from './start-run.ts';
import {workerCommand} from './start-worker.ts';
import {StoredAnswers} from './stored-answers.ts';
import {Troubles} from './troubles.ts';

/** A world with a disk and a service, in which commands are carried out one after the other. */
export class Simulation {
  readonly world: World;
  readonly disk = new Disk(ROOT);
  readonly service: Service;
  readonly redis: RedisServer;
  readonly stored = new StoredAnswers();
  readonly runs: Ended[] = [];
  /** Each input as its owner left it. */
  readonly inputs = new Map<string, InputRow[]>();
  readonly #databases: Databases;
  readonly troubles: Troubles;
  readonly #uninstall: () => void;
  readonly #dialect: Dialect | undefined;
  readonly #isFleet: boolean;
  #last: RunSpec | undefined;
  #asker: Asker | undefined;
  /** The runs, by their processes. */
  readonly #askers = new Map<Process | undefined, Asker>();
  readonly #workers: Process[] = [];
  /** True if Redis was away, or refused writes, at any time. */
  hadTrouble = false;
  readonly accountPerDay: number | undefined;
  readonly accountPerMonth: number | undefined;
  readonly accountRate: number | undefined;
  #healing = false;
  /** The first statement that wrote a key to a database. */
  #keptKey: string | undefined;

  constructor(seed: number, {inputs, dialect, fleet, ...account}: Omit<Sequence, 'commands'>) {
    const {accountPerDay, accountPerMonth, accountRate} = account;
    this.#dialect = dialect;
    this.#isFleet = fleet;
    this.accountPerDay = accountPerDay;
    this.accountPerMonth = accountPerMonth;
    this.accountRate = accountRate;
    this.world = new World(seed);
    this.world.onPowerCut = () => this.disk.cutPower(this.world.random);
    this.service = new Service(this.world, () => this.redis.leastLeft(CLAIMS));
    this.#databases = new Databases(this.disk, this.world, {
      opened: (path, inode, process) => {
        if (!path.endsWith('ledger.db')) return;
        process.ledger = inode;
        process.ledgers.set(path, inode);
      },
      committed: (path, process) => {
        if (!path.endsWith('ledger.db')) return;
        this.service.recorded(process);
        process.leftOut = process.unheard.size > 0;
      },
      written: (inode, sql, values) => {
        this.#keptKey ??= values.some(holdsKey) ? sql : undefined;
        this.stored.written(inode, sql, values);
        if (sql.startsWith('INSERT INTO age_in_use'))
          this.stored.used(inode, this.world.current, this.#now());
        if (sql.startsWith('INSERT OR REPLACE INTO date')) this.stored.dated(inode, this.#now());
      },
      removed: (inode, left) => this.stored.removed(inode, left, this.#now()),
    });
    this.troubles = new Troubles(this.world, this.disk, this.#databases);
    for (const path of directories) this.disk.makeDirectory(path);
    for (const [index, rows] of inputs.entries()) this.#setInput(index, [...rows]);
    for (const [path, target] of links) this.disk.links.set(path, target);
    if (Object.values(account).some(limit => limit !== undefined)) {
      this.disk.create(accountPath, 0o644).data = Buffer.from(accountText(account));
      this.disk.create(secondAccountPath, 0o644).data = Buffer.from(secondAccountText());
    }
    this.disk.syncAll();
    this.redis = new RedisServer(this.world);
    const files = new Files(this.disk, this.world);
    const network = this.service.transportFor(() => this.#askerOf(this.world.current));
    this.#uninstall = install(this.world, {
      files,
      databases: this.#databases,
      redis: this.redis,
      network,
    });
    for (const account of keys.keys()) this.#writeKey(account);
    if (fleet) this.#startWorker(undefined);
  }

  /** What of a run's can be seen by others, and has a key in it. */
  keyIn({after, message, warnings}: Ended): string | undefined {
    const isShown = ([path, data]: readonly [string, Buffer]) =>
      !path.startsWith(keyDirectory) && holdsKey(data);
    return [message, ...warnings].find(holdsKey) ?? [...after].find(isShown)?.[0] ?? this.#keptKey;
  }

  close(): void {
    this.#uninstall();
    this.#databases.close();
  }

  /** Carries a command out; returns the runs that it was, once they have ended. */
  async execute(command: Command): Promise<readonly Ended[]> {
    this.world.note(() => `== ${JSON.stringify(command)}`);
    switch (command.do) {
      case 'run':
        this.#last = this.#fitting(command.spec);
        return this.#run([{spec: this.#last, course: command.course}], 0);
      case 'again': {
        if (this.#last === undefined) return [];
        this.#last = fitting({...this.#last, ...command.changes});
        const ended = await this.#run([{spec: this.#last, course: command.course}], 0);
        // A flag for one run is not repeated.
        this.#last = {...this.#last, restart: false, freshBudget: false, force: false};
        return ended;
      }
      case 'both': {
        const spec = this.#fitting(command.spec);
        this.#last = spec;
        const all = [spec, ...command.others.map(changes => fitting({...spec, ...changes}))];
        // Programs lock nothing: those with one summary's path would write it over each other.
        const specs = isOfProgram(spec) ? [...new Map(all.map(one => [one.output, one])).values()] : all;
        const courseOf = (nth: number) => command.courses[nth] ?? {faults: [], latencyMs: 20};
        return this.#run(
          specs.map((one, nth) => ({spec: one, course: courseOf(nth)})),
          command.apartMs,
        );
      }
      default:
        this.#turn(command);
        return [];
    }
  }

  /** The last run once more, with nothing in its way. */
  async heal(): Promise<readonly Ended[]> {
    if (this.#last === undefined) return [];
    const spec = {...this.#last, restart: false, freshBudget: false, force: false, maxCredits: undefined};
    const free = {
      ...spec,
      maxErrors: undefined,
      until: undefined,
    };
    this.#healing = true;
    this.world.stall(120_000);
    for (const worker of this.#workers) worker.fate = undefined;
    for (const path of [accountPath, secondAccountPath]) this.disk.remove(path);
    if (this.#isFleet) this.#startWorker(undefined);
    this.world.note(() => `== heal ${JSON.stringify(free)}`);
    return this.#run([{spec: free, course: {faults: [], latencyMs: 20}}], 0);
  }

  #fitting(spec: RunSpec): RunSpec {
    return this.#isFleet ? {...spec, ...OF_A_FLEET} : fitting(spec);
  }

  /** The lines that `spend` would add up, waiting ones included, by their sessions. */
  history(): ReadonlyMap<string, RunRecord> {
    return historyOf(this.disk, this.#databases);
  }

  inputBytes(): ReadonlyMap<string, Buffer> {
    return new Map(
      [...this.inputs.values()].map((rows, list) => [
        inputPath(list),
        written(inputText(rows, list), this.#dialect),
      ]),
    );
  }

  #now(): Moment {
    const {steadyMs, wallMs} = this.world;
    return {steadyMs, wallMs};
  }

  #snapshot(): Snapshot {
    const {files, links} = this.disk;
    const dataOf = (path: string, {data}: Inode) => (isDatabase(path) ? NOTHING : data);
    return new Map([
      ...[...links].map(([path, target]) => [path, Buffer.from(target)] as const),
      ...[...files].map(([path, inode]) => [path, dataOf(path, inode)] as const),
    ]);
  }

  async #run(works: readonly {spec: RunSpec; course: Course}[], apartMs: number): Promise<Ended[]> {
    const before = this.#snapshot();
    const {lasting: lastingBefore, powerCuts} = this.disk;
    const runs = works.map(({spec: given, course}, index) => {
      // The day of a dated one is its own.
      const spec = {...given};
      const process = new Process(`run ${this.runs.length + index + 1}`, course.fate);
      const report = newReport();
      const asker = this.#askerFor(process, spec, course);
      // A fleet works for the first of them: others are refused.
      if (!spec.fleet || index === 0) this.#asker = asker;
      const callsBefore = this.service.calls.length;
      const seen = {calls: 0, startedAt: this.world.wallMs + index * apartMs, endedAt: 0};
      process.handles.add(() => {
        seen.calls = this.service.calls.length;
        seen.endedAt = this.world.wallMs;
      });
      const storedBefore = this.stored.copyOf(
        spec.cache === 'none' ? undefined : this.disk.files.get(storePath(spec.cache)),
      );
      const work = this.#workOf(spec, course);
      const main = () => {
        // Not when it was called: a machine that is busy lets it wait, past midnight at times.
        seen.startedAt = this.world.wallMs;
        if (spec.way === 'dated') spec.day = dayAt(seen.startedAt - DAY_MS * (spec.daysAgo ?? 0));
        return runCommand(work, {asker, service: this.service, world: this.world, report});
      };
      return {
        ...work,
        course,
        process,
        report,
        callsBefore,
        seen,
        storedBefore,
        start: {process, main, afterMs: index * apartMs},
      };
    });
    await this.world.run(runs.map(({start}) => start));
    if (this.#last !== undefined) this.#last = {...this.#last, day: runs[0]?.spec.day};
    const after = this.#snapshot();
    const {lasting} = this.disk;
    const stood = this.disk.powerCuts > powerCuts ? [before, lastingBefore] : [before];
    const temporaries = this.disk.names(TEMPORARY);
    const ended = runs.flatMap((one, index): Ended[] => {
      const {spec, process, callsBefore, seen, report} = one;
      const {unwantedAt, odd} = report;
      const whole: Ended = {
        ...one,
        ...saidBy(process, report),
        nth: 0,
        calls:
          spec.fleet && index === 0
            ? this.service.calls.slice(callsBefore, seen.calls)
            : this.service.calls.filter(call => call.process === process),
        startedAt: seen.startedAt,
        endedAt: seen.endedAt,
        callsByThen: seen.calls,
        before,
        after: withStream(after, one),
        stood,
        lasting,
        // A run with nothing to do or to publish has only read whose ledger it is.
        ledger: hadNothingToDo(report) ? undefined : process.ledger,
        ...this.troubles.ofStore(spec),
        healed: this.#healing,
        isOfEarlierDay: false,
        unwantedAt,
        odd,
        temporaries,
        isAlone: runs.length === 1,
      };
      return spec.way === 'dated' ? [...earlierDays(whole, report), ofToday(whole)] : [whole];
    });
    const numbered = ended.map((one, index) => ({...one, nth: this.runs.length + index + 1}));
    for (const {calls, process, spec, stop} of numbered)
      if (stop !== undefined && process.refused === false && !spec.fleet) this.service.forgetLate(calls);
    this.runs.push(...numbered);
    for (const {nth, code, message, process} of numbered)
      this.world.note(`== run ${nth} ${process.killed ? 'was killed' : `ended with ${code}: ${message}`}`);
    return numbered;
  }

  #askerFor(process: Process, spec: RunSpec, {faults, latencyMs}: Course): Asker {
    const asker: Asker = {
      process,
      spec,
      manners: {faults, rejectedCharge: spec.rejectedCharge, latencyMs},
      before: this.#asker && (this.#asker.process.ledger ?? this.#asker.before),
      calls: 0,
    };
    this.#askers.set(process, asker);
    return asker;
  }

  #askerOf(process: Process | undefined): Asker {
    const asker = this.#askers.get(process) ?? this.#asker;
    if (asker === undefined) throw new Error('no run has asked');
    return asker;
  }

  #workOf(spec: RunSpec, {leavesAfter}: Course): Work {
    const texts = listsOf(spec).map(list => inputText(this.inputs.get(inputPath(list)) ?? [], list));
    return {
      spec,
      input: texts.reduce((before, text) => before + text.slice(text.indexOf('\n') + 1)),
      bytes: Buffer.concat(texts.map(text => written(text, this.#dialect))),
      leavesAfter,
    };
  }

  /** An event in the world between two runs. */
  #turn(command: Exclude<Command, {do: 'run' | 'again' | 'both'}>): void {
    const {world} = this;
    switch (command.do) {
      case 'clock':
        world.moveClock(command.hours * HOUR_MS);
        return;
      case 'midnight':
        world.moveClock(DAY_MS - (world.wallMs % DAY_MS) - 50);
        return;
      case 'input': {
        const rows = this.inputs.get(inputPath(command.input)) ?? [];
        if (command.how === 'append') this.#setInput(command.input, [...rows, ...command.rows]);
        else if (command.how === 'replace') this.#setInput(command.input, [...command.rows]);
        else this.#setInput(command.input, [...command.rows.slice(0, 1), ...rows.slice(1)]);
        return;
      }
      case 'store':
        this.troubles.disturbStore(command);
        return;
      case 'disk':
        this.troubles.refuseWrites(command);
        return;
      case 'renewKey':
        // The service has each account's new key at the moment at which its file has it.
        world.later(command.afterMs, () => {
          this.service.renewKey(command.account);
          this.#writeKey(command.account);
        });
        return;
      case 'mount':
        this.disk.mount(statePath({state: command.state}));
        return;
      case 'state':
        if (this.#last !== undefined) this.troubles.disturbState(statePath(this.#last), command.how);
        return;
      case 'history':
        this.#databases.lock(historyPath, command.seconds * 1_000);
        return;
      case 'worker':
        if (this.#isFleet) this.#startWorker(command.fate);
        return;
      case 'redis': {
        this.hadTrouble = true;
        const fromMs = world.steadyMs + command.afterMs;
        this.redis[command.how] = {
          fromMs,
          untilMs: fromMs + command.seconds * 1_000,
        };
        return;
      }
      default:
        command satisfies never;
    }
  }

  #startWorker(fate: Fate | undefined): void {
    const process = new Process(`worker ${this.#workers.length + 1}`, fate);
    this.#workers.push(process);
    const asker = () => this.#askerOf(undefined);
    this.world.background(process, () => workerCommand(process, this.service.transportFor(asker)));
  }

  #writeKey(account: number): void {
    const inode = this.disk.files.get(keyPath({account})) ?? this.disk.create(keyPath({account}), 0o600);
    inode.data = Buffer.from(this.service.keyOf(account));
    this.disk.syncAll();
  }

  #setInput(index: number, rows: InputRow[]): void {
    const path = inputPath(index);
    this.inputs.set(path, rows);
    const inode: Inode = this.disk.files.get(path) ?? this.disk.create(path, 0o644);
    inode.data = written(inputText(rows, index), this.#dialect);
    this.disk.syncAll();
  }
}

function holdsKey(text: unknown): boolean {
  if (typeof text !== 'string' && !Buffer.isBuffer(text)) return false;
  return keys.some(key => text.includes(key));
}

/** The disk's files, and what has left through a stream as if it were one. */
function withStream(
  after: Snapshot,
  {spec, report}: {readonly spec: RunSpec; readonly report: Report},
): Snapshot {
  if (!isStream(spec)) return after;
  const {printed, taken, outcome} = report;
  const rows = spec.way === 'stdout' ? printed : Buffer.from(taken.join(''));
  const isThere = rows.length > 0 || (outcome !== undefined && outcome.stop === undefined);
  return isThere ? new Map([...after, [outputPath(spec), rows]]) : after;
}

/** True of a run that was complete before, or whose files were only left to be put in place. */
function hadNothingToDo({outcome}: Report): boolean {
  return outcome?.found !== undefined;
}

/** A fleet works on one output, whose ledger knows all of its calls. */
const OF_A_FLEET = {
  fleet: true,
  input: 0,
  output: 0,
  state: 0,
  endpoint: 0,
  account: 0,
  clash: undefined,
  offline: undefined,
  way: undefined,
} as const;
/** The claims that all members of a fleet share, as Redis has them. */
const CLAIMS = ['bulk-enrich:protocol', 'bulk-enrich:key'];
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const NOTHING = Buffer.alloc(0);
