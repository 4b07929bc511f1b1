/** Examples of each command, by its words: what `--help` ends with. */
const examples: Readonly<Record<string, readonly string[]>> = {
  run: [
    'bulk-enrich run signups.csv                                 columns found by themselves',
    'bulk-enrich run signups.csv --ip signup_ip --email email    columns named',
    'bulk-enrich run a.csv b.csv -o all.csv --max-credits 5000   several inputs, a credit limit',
    'zcat big.csv.gz | bulk-enrich run - -o big.enriched.csv     stdin',
    'bulk-enrich run events.ndjson -o events.csv --flatten       from NDJSON to CSV, inner fields too',
    'bulk-enrich run signups.csv --where \'row.country == "US"\'   only rows that are worth it',
    'bulk-enrich run signups.csv --sample 200                    what would all of it cost?',
    'bulk-enrich run --job jobs/nightly-signups.yaml             a job file',
  ],
  plan: [
    'bulk-enrich plan signups.csv                                columns found, and what they would cost',
    'bulk-enrich plan signups.csv --phone tel --default-country US   phone numbers in national form',
    'bulk-enrich plan --job jobs/nightly-signups.yaml --json     for a program',
  ],
  explain: ['bulk-enrich explain signups.enriched.csv --row 17           why did this row get its score?'],
  rejects: [
    'bulk-enrich rejects signups.enriched.rejects.ndjson > again.csv   to be put right and run again',
  ],
  lookup: [
    'bulk-enrich lookup ip 192.0.2.1',
    "bulk-enrich lookup phone '(202) 555-0100' --default-country US",
    'bulk-enrich lookup email somebody@example.com --endpoint embedded',
  ],
  verify: [
    'bulk-enrich verify --token SESSION_TOKEN --action-id ACTION',
    'bulk-enrich verify --token SESSION_TOKEN --action-id ACTION --id user-17 --email somebody@example.com',
  ],
  serve: [
    'bulk-enrich serve                                           on 127.0.0.1:8787, with a key made up',
    'bulk-enrich serve --port 0 --credits 50                     any free port, an account that runs out',
    'bulk-enrich serve --rate-limit 20/s --error-rate 5% --latency 80ms   a bad night, to practise',
    'bulk-enrich serve --sessions samples/sessions.ndjson        verdicts on these sessions',
  ],
  worker: [
    'bulk-enrich worker --redis redis://127.0.0.1:6379           makes calls for the runs of that fleet',
  ],
  'fleet status': ['bulk-enrich fleet status --redis redis://127.0.0.1:6379'],
  'cache stats': ['bulk-enrich cache stats                                     how many answers, how old'],
  'cache prune': ['bulk-enrich cache prune --max-age 30d                       forget what is older'],
  'cache purge': [
    'bulk-enrich cache purge somebody@example.com                forget one person',
    "bulk-enrich cache purge '(202) 555-0100' --default-country US",
  ],
  doctor: [
    'bulk-enrich doctor                                          nothing is charged',
    'bulk-enrich doctor --call                                   one real lookup: is the key accepted?',
    'bulk-enrich doctor -o /srv/signups/out.csv --json           from where the job will run',
  ],
  init: [
    'bulk-enrich init signups.csv                                writes signups.yaml',
    'bulk-enrich init exports/signups-{date}.csv                 a list that has a new name every day',
    'bulk-enrich init list.csv --encoding windows-1252 -o jobs/list.yaml',
  ],
  completion: [
    'eval "$(bulk-enrich completion bash)"                       in ~/.bashrc; the same with zsh in ~/.zshrc',
    'bulk-enrich completion fish > ~/.config/fish/completions/bulk-enrich.fish',
  ],
};

/** What stands at the end of a command's help; nothing for one that only holds others. */
export function examplesOf(words: string): string {
  const lines = examples[words];
  return lines === undefined ? '' : `\nExamples:\n${lines.map(line => `  ${line}\n`).join('')}`;
}
