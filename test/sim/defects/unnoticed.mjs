/** What fresh eyes put in and no check noticed, until each had one. `test`: its own, where no sequence of commands shows it. */
export const unnoticed = [
  {
    name: "unnoticed: at midnight yesterday's rest of a block is given back to today",
    edits: [
      [
        'src/account/period-budget.ts',
        '    if (this.#left > 0) this.#change(() => -this.#left);\n    this.#current = current;\n',
        '    this.#current = current;\n    if (this.#left > 0) this.#change(() => -this.#left);\n',
      ],
    ],
  },
  {
    name: 'unnoticed: rejects of an attempt that was cut off are published by a restart that has none',
    edits: [
      [
        'src/run/rows/row-writer.ts',
        '    else if (rejectsPath !== undefined) rmSync(rejectsPath, {force: true});\n',
        '',
      ],
    ],
  },
  {
    name: "unnoticed: a fleet's claims are not renewed",
    edits: [['src/fleet/roster.ts', '  await redis.pexpire(key, FORGOTTEN_MS);\n', '']],
  },
  {
    name: 'unnoticed: a key that its command says twice is printed once',
    test: 'test/job/endpoint.test.ts',
    edits: [
      [
        'src/job/secrets/api-key.ts',
        "ended.stderr.replaceAll(printed, '******')",
        "ended.stderr.replace(printed, '******')",
      ],
    ],
  },
  {
    name: 'unnoticed: a call in doubt is told by two sessions',
    edits: [
      [
        'src/ledger/bills.ts',
        'before: spentSince(books, undefined), told: undefined}',
        'before: Object.fromEntries(Object.entries(spentSince(books, undefined)).map(([name, each]) => [name, {...each, maybeSpent: 0}])) as SpendingBy, told: undefined}',
      ],
    ],
  },
  {
    name: 'unnoticed: a copy to another file system is renamed before it is on the disk',
    edits: [['src/disk/replace.ts', '    makeReady(beside, target);\n', '']],
  },
  {
    name: 'unnoticed: days of spend are local ones',
    test: 'test/report/spend.test.ts',
    edits: [
      [
        'src/report/spend.ts',
        'return [[record.ended_at.slice(0, 10), ',
        "return [[new Date(record.ended_at).toLocaleDateString('sv'), ",
      ],
    ],
  },
  {
    name: 'unnoticed: a call after a throttled one is no retry',
    edits: [
      [
        'src/lookup/task-state.ts',
        "if (attempt.kind !== 'not_sent') value.calls += 1;",
        "if (attempt.kind !== 'not_sent' && attempt.kind !== 'throttled') value.calls += 1;",
      ],
    ],
  },
  {
    name: 'unnoticed: a condition sees what later lookups are known to be without a call',
    test: 'test/score/runs.test.ts',
    edits: [
      ['src/run/rows/admission.ts', '(later.has(index) ? undefined : results[index])', 'results[index]'],
      [
        'src/run/rows/admission.ts',
        '    const later = new Set(layout.waterfall?.stages.slice(stage).flat());\n',
        '    void stage;\n',
      ],
    ],
  },
];
