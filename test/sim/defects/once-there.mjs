/**
 * Defects that the program once had, put back: what each of them did, and where. The numbers are those of the list that
 * they were reported in.
 */
export const onceThere = [
  {
    name: '1 a restart takes over answers of another endpoint or account',
    edits: [
      ['src/ledger/given-up.ts', 'FROM carried WHERE key = ? AND scope = ?', 'FROM carried WHERE key = ?'],
      ['src/ledger/given-up.ts', 'this.#sql.find.get(key, this.#scope)', 'this.#sql.find.get(key)'],
    ],
  },
  {
    name: '2a a restart forgets what was spent',
    edits: [
      [
        'src/ledger/given-up.ts',
        'return beginningWith(this.#books().find(books => books.isCounted)?.tally ?? emptyTally());',
        'void beginningWith;\n    return emptyTally();',
      ],
    ],
  },
  {
    name: '2b a restart forgets which calls may have been carried out',
    edits: [['src/ledger/given-up.ts', '    this.#keepDoubts();\n', '']],
  },
  {
    name: '3 any chunk that is left over is taken for the outcome of its values',
    edits: [
      [
        'src/run/open/join-fleet.ts',
        'known?.interrupted !== ask.dispatch',
        'known?.interrupted === undefined',
      ],
    ],
  },
  {
    name: '4 a chunk that Redis does not take is given up, and goes on being added',
    edits: [
      [
        'src/fleet/chunk-adds.ts',
        'if (!isRefusal(error)) return await this.#find(id);',
        "if (!isRefusal(error)) return await this.#find(id);\n        void sleep(ADD_AGAIN_MS).then(() => this.add(id, data));\n        return 'kept';",
      ],
    ],
  },
  {
    name: '6 all lanes together hold more than --concurrency',
    edits: [
      ['src/lookup/queue-executor.ts', 'slots: () => this.#slots,', 'slots: () => Number.POSITIVE_INFINITY,'],
    ],
  },
  {
    name: '7 a locked store is given up for good, and nobody is told',
    edits: [
      [
        'src/store/store.ts',
        'if (!isBusy(error)) this.#giveUp(error);',
        'this.#giveUp(error);\n      this.#lost = true;',
      ],
      ['src/store/store.ts', 'return fails || missed > 0 ?', 'return fails && missed < 0 ?'],
      ['src/lookup/answers.ts', 'ledger.tally.operations[operation].notLookedUp += 1;', 'void operation;'],
    ],
  },
  {
    name: '8 the canary knows only what is asked tonight',
    edits: [
      [
        'src/run/open/open-executor.ts',
        'isAnswered: operation => isAnswered(ledger.tally, operation) || store.knows(operation),',
        'isAnswered: () => false,',
      ],
    ],
  },
  {
    name: '9a an answer that was stored while the clock was ahead is fresh until then',
    test: 'test/store/store-file.test.ts',
    edits: [
      [
        'src/store/store-file.ts',
        'if (boughtAt <= latest) return boughtAt;',
        'if (boughtAt <= 2 * latest) return boughtAt;',
      ],
    ],
  },
  {
    name: '9b credits are added as binary fractions',
    edits: [
      ['src/job/money.ts', 'return Math.round(credits * PER_CREDIT);', 'return credits;'],
      ['src/job/money.ts', 'return amount / PER_CREDIT;', 'return amount;'],
      ['src/job/money.ts', 'Number.isSafeInteger(thousandths(credits)) &&', 'PER_CREDIT > 0 &&'],
    ],
  },
  {
    name: '13 the lock belongs to the state, not to the output',
    edits: [['src/run/destination/file-destination.ts', /own: \[`.*`\],/, 'own: [],']],
  },
  {
    name: '15 what is written may be the input',
    edits: [
      [
        'src/run/state/job-files.ts',
        '  for (const file of written) refuseAmong(file, [...read, ...written, ...kept]);\n',
        '',
      ],
    ],
  },
  {
    name: '18 the same command again after its end is refused',
    edits: [
      [
        'src/run/open/where-to-begin.ts',
        'const compare = () => finishedBefore(job, destination, pipesOf(io, stopper));',
        'const compare = () => finishedBefore(job, destination, pipesOf(io, stopper)).then(() => undefined);',
      ],
    ],
  },
  {
    name: 'later rows of a session token are told what the first was told',
    edits: [
      [
        'src/lookup/repeated/again.ts',
        'if (answer === undefined ||',
        "if (operation === 'verify' || answer === undefined ||",
      ],
    ],
  },
  {
    name: 'a resumed run does not know which row of a session token was the first',
    edits: [['src/ledger/ledger.ts', '?.first_row ?? null;', '?.none ?? null;']],
  },
  {
    name: 'an outage sends a value more often than its resends allow',
    edits: [
      [
        'src/lookup/queue-executor.ts',
        'const booked = counted(task, attempt, policy.cost);',
        'const {history} = task; const booked = counted(task, attempt, policy.cost); if (this.#flow.outage !== undefined) task.history = history;',
      ],
    ],
  },
  {
    name: 'a resumed run sends a value more often than its resends allow',
    edits: [
      [
        'src/lookup/answers.ts',
        'pending.history = addedUp(known.get(key), carried);',
        'pending.history = (sum => ({...sum, doubts: Math.min(1, sum.doubts)}))(addedUp(known.get(key), carried));',
      ],
    ],
  },
  {
    name: 'an output that is taken over for another account loses the answers of the run before',
    edits: [
      ['src/store/store.ts', 'if (this.stored === 0) yield* ledger.givenUp.answersElsewhere();', 'void 0;'],
    ],
  },
  {
    name: 'a streak of refusals whose rows have earlier answers is no matter',
    edits: [
      ['src/run/exit.ts', "totalOf(tally, 'longestStreak') > 0", "totalOf(tally, 'longestStreak') < 0"],
    ],
  },
  {
    name: 'a kill ends a streak of refusals',
    edits: [
      [
        'src/lookup/queue-executor.ts',
        'refusals: operation => options.ledger.tally.operations[operation],',
        "refusals: operation => Object.assign(options.ledger.tally.operations[operation], {longestStreak: 0, refused: {count: 0, code: '', isMixed: false, credentials: true}}),",
      ],
    ],
  },
  {
    name: 'what an account is refused for is known of its values',
    edits: [
      ['src/lookup/pace/flow-control.ts', '!this.#canary(operation).isStreak && ', ''],
      ['src/run/open/open-executor.ts', 'rejections.drop(operation)', 'rejections.keep(operation)'],
      [
        'src/store/rejections.ts',
        'operations[operation].answered > 0',
        'operations[operation].answered >= 0',
      ],
    ],
  },
  {
    name: 'a rejection takes the place of an answer that is within its age',
    edits: [
      [
        'src/lookup/task-state.ts',
        "(isKept(outcome) && before.outcome.status === 'failed')",
        'isKept(outcome)',
      ],
    ],
  },
];
