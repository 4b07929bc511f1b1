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
    name: 'lookup: a second cell of a value that is on its way is asked for again',
    edits: [
      [
        'src/lookup/answers.ts',
        'const others = this.#pending.get(key)?.waiters ?? fresh.get(key);',
        'const others = fresh.get(key);',
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
    name: 'run: the ledger of a run that was published is an attempt of the next one',
    edits: [
      [
        'src/run/open/where-to-begin.ts',
        '  if (record !== undefined) forgetLedger(state);\n',
        '  void forgetLedger;\n',
      ],
    ],
  },
  {
    name: 'run: the mark of a checkpoint comes before its bytes',
    edits: [['src/output/sink.ts', '    await this.#guard(() => this.#file.datasync());\n', '']],
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
