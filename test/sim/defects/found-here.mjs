/** What the machine itself found in the program, put back. */
export const foundHere = [
  {
    name: 'found here: a new partial has no name yet that outlives a power cut',
    edits: [['src/output/sink.ts', '      if (bytes === 0) syncPath(dirname(path));\n', '']],
  },
  {
    name: 'found here: a compressed output has no name yet that outlives a power cut',
    test: 'test/run/publish.test.ts',
    edits: [['src/run/destination/pack.ts', '    syncPath(dirname(to));\n', '']],
  },
  {
    name: 'found here: a record of a publishing takes whatever waits for its own',
    test: 'test/run/publish.test.ts',
    edits: [
      [
        'src/run/destination/publish.ts',
        'if (await hasDigest(partialPath(files, one.name, one.to), one.digest)) waiting.push(one);',
        'if (existsSync(partialPath(files, one.name, one.to))) waiting.push(one);',
      ],
    ],
  },
  {
    name: 'found here: what a complete run removed is back after a power cut',
    test: 'test/run/publish.test.ts',
    edits: [['src/run/state/run-state.ts', '    else syncPath(path);\n', '']],
  },
  {
    name: 'found here: once --resends 0 is said, what is in doubt from before is still sent again',
    edits: [['src/ledger/value-history.ts', 'since.doubts + before.doubts,', '0,']],
  },
  {
    name: 'found here: a run with another state takes the partial of an unfinished one for its own',
    test: 'test/run/places.test.ts',
    edits: [
      [
        'src/run/destination/partial.ts',
        /const near = join\(directory, .*\);/,
        'const near = join(locked[0]?.path ?? directory, name + ".partial");',
      ],
    ],
  },
  {
    name: 'found here: the plain command throws an attempt away that was cut off',
    edits: [
      [
        'src/run/open/where-to-begin.ts',
        'const isCutOff = hasOtherRun(state.directory, summary.run_id);',
        'const isCutOff = hasOtherRun(state.directory, summary.run_id) && false;',
      ],
    ],
  },
  {
    name: 'found here: a run that collects breaks where Redis takes no writes',
    test: 'test/fleet/chunk-queue.test.ts',
    edits: [['src/fleet/chunk-queue.ts', '      if (isRefusal(error)) return 0;\n', '']],
  },
  {
    name: 'found here: an output that is said to be there may be gone after a power cut',
    test: 'test/run/publish.test.ts',
    edits: [['src/run/destination/file-destination.ts', '      syncPath(dirname(target));\n', '']],
  },
  {
    name: 'found here: a directory that was made for the state may be gone after a power cut',
    edits: [['src/disk/directory.ts', '  syncPath(dirname(path));\n', '']],
  },
  {
    name: 'found here: doubt that came after an answer is forgotten with that answer',
    test: 'test/ledger/ledger.test.ts',
    edits: [
      [
        'src/ledger/given-up.ts',
        ' ON CONFLICT (key, scope) DO UPDATE SET state = excluded.state, history = excluded.history, error = NULL',
        ' ON CONFLICT DO NOTHING',
      ],
    ],
  },
  {
    name: 'found elsewhere: a run that wrote no row is continued with another input',
    test: 'test/run/resume.test.ts',
    edits: [
      [
        'src/run/identity.ts',
        "if (ledger.getMeta('checkpoint') !== undefined) return beginning;",
        'if (found.sessions > 0) return beginning;',
      ],
    ],
  },
  {
    name: 'found here: a run begun anew forgets how often each value was sent in doubt',
    edits: [['src/run/identity.ts', "keepsDoubts: beginning === 'anew'", 'keepsDoubts: false']],
  },
  {
    name: 'found elsewhere: one run whose clock is ahead takes fresh answers from the store',
    edits: [['src/store/upkeep.ts', 'Math.floor(certain - Number(age))', 'Math.floor(now - Number(age))']],
  },
  {
    name: 'found elsewhere: one run whose clock is ahead replaces fresh answers by what no other run can use',
    edits: [
      [
        'src/store/store-file.ts',
        'const after = isOwn ? earlier : 0;',
        'const after = isOwn ? 0 * earlier : 0;',
      ],
    ],
  },
  {
    name: "found elsewhere: one run whose clock is ahead forgets the day's credits",
    edits: [
      [
        'src/account/period-budget.ts',
        "keyOf('day', certain - KEPT_MS)",
        "keyOf('day', certain * 0 + date.now() - KEPT_MS)",
      ],
    ],
  },
  {
    name: 'found elsewhere: an outcome that waits to be written is not known yet',
    edits: [['src/ledger/unwritten.ts', 'else this.outcomes.set(booked.key, booked.outcome);', '']],
  },
  {
    name: 'found here: a call that is heard of after a failed write is in no books',
    edits: [
      [
        'src/ledger/ledger.ts',
        "if (this.#state !== 'open') return Promise.reject(this.#writer.refusal);",
        'if (this.#writer.refusal !== undefined) return Promise.reject(this.#writer.refusal);',
      ],
    ],
  },
  {
    name: 'found here: a call that was booked before its write failed is booked as lost too',
    edits: [
      [
        'src/ledger/ledger.ts',
        '    this.#inFlight.delete(booked.key);\n',
        '    void this.#writer.soon().then(() => this.#inFlight.delete(booked.key)).catch(() => {});\n',
      ],
    ],
  },
  {
    name: 'found here: a call that could not be reserved, and was not sent, is in doubt',
    edits: [
      [
        'src/ledger/ledger.ts',
        "        this.budget.release(call.key, call.cost, 'free');\n        this.#countDistinct(call, -1);\n",
        '        this.#inFlight.set(call.key, call);\n',
      ],
    ],
  },
  {
    name: 'found here: with --calls a full disk is an internal error',
    test: 'test/ledger/ledger.test.ts',
    edits: [
      [
        'src/ledger/call-records.ts',
        "guarded(() => this.#db.exec('CREATE INDEX IF NOT EXISTS call_key ON call (key, id)'))",
        "this.#db.exec('CREATE INDEX IF NOT EXISTS call_key ON call (key, id)')",
      ],
    ],
  },
  {
    name: 'found here: a full disk loses the answers of the calls in flight',
    edits: [['src/ledger/ledger.ts', 'spare: this.#spare', 'spare: undefined']],
  },
  {
    name: 'found here: a reservation that a full disk refused stays in the books that are written after it',
    test: 'test/ledger/ledger.test.ts',
    edits: [
      [
        'src/ledger/ledger-writer.ts',
        '      if (reservations.length > 0) throw error;\n      this.write([], more);\n',
        '      this.write([], more);\n      if (reservations.length > 0) throw error;\n',
      ],
    ],
  },
  {
    name: 'found here: a limiter that Redis refused to open is not opened again',
    test: 'test/fleet/worker-lane.test.ts',
    edits: [['src/fleet/limits.ts', '        opened = undefined;\n', '']],
  },
  {
    name: 'found here: a resumed run goes by row numbers of an input that was changed since',
    edits: [
      [
        'src/run/session.ts',
        '    if (checkpoint !== undefined) ledger.forgetRowsAfter(checkpoint.record);\n',
        '',
      ],
    ],
    test: 'test/run/replays.test.ts',
  },
  {
    name: 'found here: an answer that is dated ahead gets younger when another attempt stores it',
    edits: [['src/store/store-file.ts', ' && boughtAt <= latest;', ';']],
    test: 'test/run/clock.test.ts',
  },
];
