/** Small changes of `ledger`, `lookup` and `run` that break a promise from one command to the next. */
export const mutations = [
  {
    name: 'ledger: an answer that is carried over does not replace an older one',
    edits: [['src/ledger/given-up.ts', 'INSERT OR REPLACE INTO carried', 'INSERT OR IGNORE INTO carried']],
  },
  {
    name: 'ledger: a restart carries over only the doubt of interrupted calls',
    edits: [['src/ledger/given-up.ts', 'ambiguous = 1 OR error', 'error']],
  },
  {
    name: 'ledger: a call that is sent again after an interruption is in no doubt',
    edits: [
      [
        'src/ledger/ledger-file.ts',
        /ambiguous = max\(ambiguous, error IS '.*?'\), error = NULL/,
        'error = NULL',
      ],
    ],
  },
  {
    name: 'ledger: the last attempt alone says whether a value is in doubt',
    edits: [
      ['src/ledger/ledger-file.ts', 'ambiguous = max(ambiguous, ?), error = ?', 'ambiguous = ?, error = ?'],
    ],
  },
  {
    name: 'ledger: a day goes on after midnight until its block is used up',
    edits: [
      [
        'src/ledger/daily-budget.ts',
        '  take(key: string, cost: number): boolean {\n    this.#turnDay();\n',
        '  take(key: string, cost: number): boolean {\n',
      ],
    ],
  },
  {
    name: 'lookup: what is in doubt from the session before is forgotten',
    edits: [
      [
        'src/lookup/answers.ts',
        '    for (const [key, {ambiguous}] of known) if (ambiguous) doubtful.add(key);\n',
        '',
      ],
    ],
  },
  {
    name: 'lookup: at the limit a value is skipped though a call in flight may turn out free',
    edits: [
      [
        'src/lookup/queue-executor.ts',
        "onBudget === 'publish' && this.#flow.inFlight === 0 &&",
        "onBudget === 'publish' &&",
      ],
    ],
  },
  {
    name: 'run: what the store could not take is taken for stored at the next checkpoint',
    edits: [
      [
        'src/run/run.ts',
        'const storedUntil = (await store.flush()) ? now : (checkpoint?.storedUntil ?? 0);',
        'await store.flush();\n  const storedUntil = now + (checkpoint === undefined ? 0 : 0);',
      ],
    ],
  },
  {
    name: 'run: a resumed run judges what is fresh by its own start',
    edits: [
      [
        'src/run/identity.ts',
        'return foundRun(ledger, beginning)?.startedAt ?? now;',
        'return Math.max(foundRun(ledger, beginning)?.startedAt ?? now, now);',
      ],
    ],
  },
  {
    name: 'ledger: a free call gives its credits back to whichever day it is by then',
    edits: [
      ['src/ledger/daily-budget.ts', 'if (free && this.#inFlight.get(key) === this.#day)', 'if (free)'],
    ],
  },
  {
    name: 'run: what a killed session could not store any more is never stored',
    edits: [
      [
        'src/run/session.ts',
        'missedSince: checkpoint?.storedUntil ?? 0,',
        'missedSince: checkpoint?.storedUntil ?? io.now(),',
      ],
    ],
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
];
