/** Of the ways in which a run is started, and its rows leave: each breaks a promise that nights, pipes or programs have alone. */
export const ways = [
  {
    name: 'nights: an unfinished run of an earlier day is not looked for',
    edits: [['src/job/job.ts', /return earlierDays\(.*\);/, 'return [];']],
  },
  {
    name: "nights: with --restart an earlier day's run is begun anew too",
    edits: [
      [
        'src/job/job.ts',
        'const restart = given.settings.restart === false ? false : undefined;',
        'const {restart} = given.settings;',
      ],
      [
        'src/job/job.ts',
        'return resolveJob({...given, restartsNow: false, settings}, env, interactive, warn);',
        'return resolveJob({...given, settings}, env, interactive, warn);',
      ],
    ],
  },
  {
    name: 'nights: the day is that of another time zone',
    edits: [
      [
        'src/job/job.ts',
        'const date = given.settings.date ?? utcDate(Date.now());',
        'const date = given.settings.date ?? utcDate(Date.now() - 9 * 3_600_000);',
      ],
    ],
  },
  {
    name: "nights: the limit of an earlier day's run ends the night",
    edits: [
      [
        'src/run/run.ts',
        '    const toDo = left(',
        '    if (stop !== undefined) stopper.stop(stop);\n    const toDo = left(',
      ],
    ],
  },
  {
    name: 'nights: of several unfinished days the last comes first',
    edits: [
      [
        'src/job/paths.ts',
        'existsSync(dated(path, day))).sort();',
        'existsSync(dated(path, day))).sort().reverse();',
      ],
    ],
  },
  {
    name: 'streams: what a stream was answered waits for its end to be stored',
    edits: [['src/store/store.ts', 'const WRITE_EVERY_MS = 100;', 'const WRITE_EVERY_MS = 600_000;']],
  },
  {
    name: 'streams: a run without a state leaves its temporary directory',
    edits: [
      ['src/run/state/run-state.ts', '    if (written.rejects === undefined) temporary?.remove();\n', ''],
      ['src/run/state/run-state.ts', '    state.temporary?.remove();\n', ''],
    ],
  },
  {
    name: 'streams: a closed pipe is taken for an open one',
    edits: [
      ['src/output/sink.ts', '    if (this.#error !== undefined) throw streamFailed(this.#error);\n', ''],
      ['src/output/sink.ts', 'error => (error ? reject(streamFailed(error)) : resolve())', '() => resolve()'],
    ],
  },
  {
    name: 'streams: what is finished behind an unfinished row leaves a run that stops',
    edits: [
      [
        'src/run/rows/in-order.ts',
        '      const entry = this.#entries[this.#head];\n      if (entry === undefined || entry.missing > 0) break;\n',
        '      while (this.#aborted && (this.#entries[this.#head]?.missing ?? 0) > 0) this.#head += 1;\n      const entry = this.#entries[this.#head];\n      if (entry === undefined || entry.missing > 0) break;\n',
      ],
    ],
  },
  {
    name: 'library: a run that was left still sends',
    test: 'test/library/ended.test.ts',
    edits: [
      ['src/run/run.ts', '  executor.stop();\n  return executor.drained(', '  return executor.drained('],
    ],
  },
  {
    name: 'library: an aborted signal ends no job',
    edits: [
      [
        'src/library/run-job.ts',
        'const release = stopOnAbort(stopper, options.signal);',
        'const release = stopOnAbort(stopper, undefined);',
      ],
    ],
  },
  {
    name: 'library: rows come back as copies',
    edits: [
      [
        'src/library/enrichment.ts',
        'Object.isExtensible(target) ? target : copyOf(target)',
        'copyOf(target)',
      ],
    ],
  },
  {
    name: 'library: what is no row comes with the index of another',
    edits: [
      [
        'src/library/rows-run.ts',
        'yield this.#enrichments.attach(fed, index++);',
        'yield this.#enrichments.attach(fed, ++index);',
      ],
    ],
  },
  {
    name: 'library: a program has an answer store of its own',
    edits: [
      [
        'src/library/run-job.ts',
        'const {env = process.env, graceMs} = options;',
        'const {graceMs} = options;\n  const env = {...options.env, XDG_CACHE_HOME: options.env?.XDG_STATE_HOME};',
      ],
    ],
  },
  {
    name: 'nights: the list of a pipe finishes an unfinished earlier day',
    edits: [['src/run/run.ts', 'if (job.inputs.some(isReadOnce)) io', 'if (job.inputs.length === 0) io']],
  },
];
