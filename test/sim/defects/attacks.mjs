/** What a hostile reader put into the program, and the model let through until it had a promise for each. */
export const attacks = [
  {
    name: 'attack: no run can ever be resumed',
    edits: [['src/run/identity.ts', 'if (changed.length > 0) {', 'if (changed.length >= 0) {']],
  },
  {
    name: "attack: a fleet's run ignores --resend never",
    edits: [
      [
        'src/run/open/open-executor.ts',
        '    policy: settings,\n',
        "    policy: job.redisUrl === undefined ? settings : {...settings, resend: 'always' as const},\n",
      ],
    ],
  },
  {
    name: "attack: a fleet's run neither reads nor writes the store",
    edits: [
      [
        'src/run/open/answer-store.ts',
        '  {settings: {store: place}}: Job,\n  scope',
        '  {settings: {store: place}, redisUrl}: Job,\n  scope',
      ],
      [
        'src/run/open/answer-store.ts',
        '  if (place === false) return noStore;',
        '  if (place === false || redisUrl !== undefined) return noStore;',
      ],
    ],
  },
  {
    name: 'attack: answers of one account are those of all',
    edits: [['src/ledger/store/store-file.ts', /\\0\$\{account\}/, '']],
  },
  {
    name: 'attack: a restart publishes answers of any age',
    edits: [
      ['src/ledger/given-up.ts', '&& serves(answer)', '&& serves(answer) !== undefined'],
      [
        'src/lookup/answers.ts',
        'judge({operation, key}, last))',
        "judge({operation, key}, last) ?? 'fresh')",
      ],
    ],
  },
  {
    name: 'attack: what may be spent is booked twice',
    edits: [
      [
        'src/ledger/tally.ts',
        "if (charge === 'maybe') books.maybeSpent += cost;",
        "if (charge === 'maybe') books.maybeSpent += 2 * cost;",
      ],
    ],
  },
  {
    name: 'attack: exit code 0, whatever failed or was skipped',
    edits: [
      ['src/run/exit.ts', /if \(lost > 0\) return[^\n]*\n[^\n]*\n[^\n]*\n/, 'void [lost, cutShort];\n'],
    ],
  },
  {
    name: 'attack: rejects from before a resume are lost',
    edits: [
      [
        'src/run/rows/row-writer.ts',
        'const kept = checkpoint?.rejectsBytes ?? 0;',
        'const kept = (checkpoint?.rejectsBytes ?? 0) * 0;',
      ],
    ],
  },
  {
    name: 'attack: what the budget skips is said to be an outage',
    edits: [
      ['src/lookup/queue-executor.ts', "this.#leave(task, 'budget');", "this.#leave(task, 'outage');"],
      [
        'src/lookup/queue-executor.ts',
        "(isOverBudget ? 'budget' : undefined)",
        "(isOverBudget ? 'outage' : undefined)",
      ],
    ],
  },
  {
    name: "attack: with --force a changed input is given last night's cut-off output",
    edits: [
      [
        'src/run/open/where-to-begin.ts',
        'record !== undefined && !(job.settings.force && (await isOther(job, record)))',
        'record !== undefined && !(job.settings.force && (await isOther(job, record)) && job.inputs.length === 0)',
      ],
    ],
  },
  {
    name: "attack: calls go out with the first account's key",
    edits: [
      [
        'src/run/open/connection.ts',
        'const {baseUrl, apiKey, readKeyAgain, keyFrom} = endpoint;',
        'const {baseUrl, readKeyAgain, keyFrom} = endpoint;\n    const apiKey = (((globalThis as any).firstKey ??= endpoint.apiKey) as string);',
      ],
    ],
  },
  {
    name: 'attack: what the service rejects is not counted as a call',
    edits: [
      [
        'src/ledger/tally.ts',
        "  if (attempt.kind === 'not_sent') {",
        "  if (attempt.kind === 'not_sent' || attempt.kind === 'rejected') {",
      ],
    ],
  },
  {
    name: "attack: what a killed session had in doubt is in another operation's books",
    edits: [
      [
        'src/ledger/tally.ts',
        'operations[operation].maybeSpent += cost',
        'operations.phone.maybeSpent += cost',
      ],
    ],
  },
];
