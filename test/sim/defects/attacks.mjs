/** What a hostile reader put into the program, and the model let through until it had a promise for each. */
export const attacks = [
  {
    name: 'attack: no run can ever be resumed',
    edits: [['src/run/identity.ts', 'if (settings.length > 0) {', 'if (settings.length >= 0) {']],
  },
  {
    name: "attack: a fleet's run ignores --resends 0",
    edits: [
      [
        'src/run/open/open-executor.ts',
        'policy: {resends, ',
        'policy: {resends: job.redisUrl === undefined ? resends : 2, ',
      ],
    ],
  },
  {
    name: "attack: a fleet's run neither reads nor writes the store",
    edits: [
      [
        'src/run/open/answer-store.ts',
        '  {settings: {store}}: Job,\n  scope',
        '  {settings: {store}, redisUrl}: Job,\n  scope',
      ],
      [
        'src/run/open/answer-store.ts',
        '  if (store === false) return noStore;',
        '  if (store === false || redisUrl !== undefined) return noStore;',
      ],
    ],
  },
  {
    name: 'attack: answers of one account are those of all',
    edits: [['src/store/store-file.ts', /\\0\$\{label\}/, '']],
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
    edits: [['src/run/exit.ts', /if \(lost > 0\) return[^\n]*\n[^\n]*\n/, 'void [lost, cutShort];\n']],
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
      [
        'src/lookup/queue-executor.ts',
        "else if (this.#isOverBudget(task)) this.#settle(task, {unasked: 'budget'});",
        "else if (this.#isOverBudget(task)) this.#settle(task, {unasked: 'outage'});",
      ],
      [
        'src/lookup/queue-executor.ts',
        "lane.release(task, false);\n    this.#settle(task, {unasked: 'budget'});",
        "lane.release(task, false);\n    this.#settle(task, {unasked: 'outage'});",
      ],
    ],
  },
  {
    name: "attack: with --force a changed input is given last night's cut-off output",
    test: 'test/run/publish.test.ts',
    edits: [
      [
        'src/run/open/where-to-begin.ts',
        'record !== undefined && !(job.settings.force && (await isOther(job, record, pipesOf(io, stopper))))',
        'record !== undefined && !(job.settings.force && (await isOther(job, record, pipesOf(io, stopper))) && job.inputs.length === 0)',
      ],
    ],
  },
  {
    name: "attack: calls go out with the first account's key",
    edits: [
      [
        'src/run/open/connection.ts',
        'const {baseUrl, apiKey, keyFrom} = endpoint;',
        'const {baseUrl, keyFrom} = endpoint;\n    const apiKey = (((globalThis as any).firstKey ??= endpoint.apiKey) as string);',
      ],
    ],
  },
  {
    name: 'attack: what the service rejects is not counted as a call',
    edits: [['src/ledger/tally.ts', '  if (isUnsent) {', "  if (isUnsent || attempt.kind === 'rejected') {"]],
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
  {
    name: "attack: beside an account's limit, values that have an answer get all of it",
    edits: [
      [
        'src/ledger/budget.ts',
        '(renews ? this.#hasHalfFor(limit, cost)',
        '(renews && limit === this.#run ? this.#hasHalfFor(limit, cost)',
      ],
    ],
  },
  {
    name: "attack: what a killed run had reserved of its account's day is lost",
    edits: [
      [
        'src/ledger/ledger.ts',
        'options.giveBack?.(before.holder, this.budget.takenSince(before));',
        'void options.giveBack;',
      ],
    ],
  },
  {
    name: 'attack: what a killed session spent is told as if the session after it had',
    edits: [
      [
        'src/run/end/bills.ts',
        '&& tellBills(untold, io))',
        '&& tellBills(untold.map(bill => ({...bill, about: ledger.bills.open.about})), io))',
      ],
    ],
  },
  {
    name: 'attack: what a killed session spent is never told',
    edits: [['src/ledger/bills.ts', '    this.#ended = this.untold;\n', '']],
  },
  {
    name: 'attack: what a locked history could not take is taken for told',
    edits: [
      [
        'src/run/end/history.ts',
        "      leaveForHistory(userDirectory('state', env), entries);\n",
        '      void leaveForHistory;\n',
      ],
    ],
  },
];
