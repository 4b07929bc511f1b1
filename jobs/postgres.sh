#!/usr/bin/env bash
# From a table to a table through pipes: beside it only the answer store, the summary, and rows that can't be read.
#   DATABASE_URL=postgres://… jobs/postgres.sh
# Each row once, or none: rows go to a staging table of this session, and from there by one statement, and only if the
# export and the run ended well. Cut off at any point, the same script again does all of it, and its answers that were
# paid for come from the answer store. `id` is the table's primary key. An empty text arrives as NULL: the two are looked
# up alike, and the output does not tell them apart.
set -euo pipefail
query=(psql "$DATABASE_URL" --quiet --no-psqlrc -v ON_ERROR_STOP=1)

# What the staging table is filled from, below.
if [ "${1-}" = rows ]; then
  set +e
  rejects=signups.rejects.ndjson
  "${query[@]}" -c "\copy (SELECT id, ip, email FROM signups ORDER BY id) TO STDOUT WITH (FORMAT csv, HEADER)" </dev/null |
    bulk-enrich run - -o - --ip ip --email email \
      --fields ip.country,ip.is_vpn,email.is_valid,email.trust_score --score none \
      --endpoint "${BULK_ENRICH_ENDPOINT:-live}" --summary signups.summary.json --rejects "$rejects"
  ended="${PIPESTATUS[*]}"
  # 3: some lookups failed, or some rows are not there as they could not be read. A run without any takes the file away.
  if [ "$ended" = '0 3' ] && [ -e "$rejects" ]; then
    echo "Nothing was loaded: $rejects has rows of signups that can't be read, and why." >&2
    exit 1
  fi
  [ "$ended" = '0 0' ] || [ "$ended" = '0 3' ]
  exit
fi

export ROWS_FROM="$0"
# psql ends with 3 if it loads nothing. Schedulers take 3 for a success of bulk-enrich.
"${query[@]}" <<'SQL' || exit 1
SELECT pg_advisory_lock(hashtext('bulk-enrich signup_risk')) AS locked \gset
CREATE TABLE IF NOT EXISTS signup_risk (
  id bigint PRIMARY KEY, ip text, email text,
  ip_status text, ip_error text, ip_is_vpn boolean, ip_country text,
  email_status text, email_error text, email_is_valid boolean, email_trust_score real);
CREATE TEMPORARY TABLE staging (LIKE signup_risk INCLUDING CONSTRAINTS);
\copy staging FROM PROGRAM 'exec bash "$ROWS_FROM" rows' WITH (FORMAT csv, HEADER)
INSERT INTO signup_risk SELECT * FROM staging ON CONFLICT (id) DO UPDATE SET
  (ip, email, ip_status, ip_error, ip_is_vpn, ip_country, email_status, email_error, email_is_valid, email_trust_score) =
  (excluded.ip, excluded.email, excluded.ip_status, excluded.ip_error, excluded.ip_is_vpn, excluded.ip_country,
   excluded.email_status, excluded.email_error, excluded.email_is_valid, excluded.email_trust_score);
SQL
