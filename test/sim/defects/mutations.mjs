/** Small changes of `ledger`, `lookup` and `run` that break a promise from one command to the next. */
export const mutations = [
  {
    name: 'lookup: each session numbers its dispatches from the same one on',
    edits: [['src/lookup/task-state.ts', 'return randomInt(2 ** 47);', 'return 2 ** 46;']],
  },
  {
    name: 'ledger: a call that is sent again after an interruption is in no doubt',
    test: 'test/ledger/ledger.test.ts',
    edits: [
      [
        'src/ledger/ledger-rows.ts',
        'toSaved(withDoubt(historyIn(history), interruptedCall))',
        'toSaved(historyIn(history))',
      ],
    ],
  },
  {
    name: 'ledger: the last attempt alone says whether a value is in doubt',
    edits: [
      [
        'src/ledger/ledger-rows.ts',
        'doubt ? withDoubt(since, attempt) : since',
        'doubt ? withDoubt(noAttempts, attempt) : since',
      ],
      ['src/ledger/ledger-rows.ts', 'interruptedCall, withDoubt', 'interruptedCall, noAttempts, withDoubt'],
    ],
  },
  {
    name: 'run: the record of a publishing is not there for sure before anything is put in place',
    edits: [
      [
        'src/disk/replace.ts',
        '    throw error;\n  }\n  syncPath(dirname(target));\n',
        '    throw error;\n  }\n',
      ],
    ],
  },
  {
    name: 'lookup: what is in doubt from the session before is forgotten',
    edits: [['src/lookup/answers.ts', 'addedUp(known.get(key), carried', 'addedUp(undefined, carried']],
  },
  {
    name: 'lookup: at the limit a value is skipped though a call in flight may turn out free',
    edits: [
      [
        'src/lookup/queue-executor.ts',
        '(isRenewal || this.#flow.inFlight.count === 0) &&',
        '(isRenewal || this.#flow.inFlight.count >= 0) &&',
      ],
    ],
  },
  {
    name: 'run: what the store could not take is taken for stored at the next checkpoint',
    edits: [['src/store/store.ts', '    if (this.#missed !== undefined) return false;\n', '']],
  },
  {
    name: 'run: what a killed session could not store any more is never stored',
    edits: [['src/run/session.ts', 'stored: checkpoint?.stored ?? 0}', 'stored: ledger.tally.bought}']],
  },
  {
    name: 'run: the output is put in place before the summary',
    edits: [
      [
        'src/run/destination/publish.ts',
        '  if (summary !== undefined && record.summary !== null)\n    replaceFile(summary, record.summary, besideOf(summary, record.token));\n',
        '',
      ],
      [
        'src/run/destination/publish.ts',
        '  syncPath(dirname(record.output_path));\n}',
        '  if (summary !== undefined && record.summary !== null)\n    replaceFile(summary, record.summary, besideOf(summary, record.token));\n  syncPath(dirname(record.output_path));\n}',
      ],
    ],
  },
  {
    name: 'lookup: a verdict of an attempt that was given up gets too old',
    edits: [
      [
        'src/run/open/answer-store.ts',
        '    if (!isStored(name)) return {answers: forever, rejections: forever, stale: 0};\n',
        '    if (!isStored(name) && rejections < 0) return {answers: forever, rejections: forever, stale: 0};\n',
      ],
    ],
  },
  {
    name: 'lookup: an answer that can not be renewed is dated by the call that was to renew it',
    edits: [
      [
        'src/lookup/task-state.ts',
        "return {next: 'settle', outcome: before.outcome};",
        "return {next: 'settle', outcome: {...before.outcome, boughtAt: Date.now()}};",
      ],
    ],
  },
  {
    name: 'ledger: a call that is found with the fleet is not held against the limit',
    test: 'test/ledger/ledger.test.ts',
    edits: [['src/ledger/ledger.ts', '    this.budget.hold(booked.cost);\n', '']],
  },
  {
    name: 'run: what was put in place is not there for sure when its state goes',
    edits: [['src/run/destination/publish.ts', '  syncPath(dirname(record.output_path));\n}', '}']],
  },
];
