#!/usr/bin/env bash
# From a table to a table through pipes: nothing is written but the run's own state.
#   DATABASE_URL=postgres://… jobs/postgres.sh
# The output is streamed, so a run that is cut off starts over; answers that were paid for come from the answer store.
set -euo pipefail

psql "$DATABASE_URL" --quiet --no-psqlrc -v ON_ERROR_STOP=1 \
  -c "\copy (SELECT id, ip, email FROM signups ORDER BY id) TO STDOUT WITH (FORMAT csv, HEADER)" |
  bulk-enrich run - -o - --ip ip --email email \
    --fields ip.country,ip.is_vpn,email.is_valid,email.trust_score --score none \
    --endpoint "${BULK_ENRICH_ENDPOINT:-live}" --summary signups.summary.json |
  psql "$DATABASE_URL" --quiet --no-psqlrc -v ON_ERROR_STOP=1 -c "
    CREATE TABLE IF NOT EXISTS signup_risk (
      id bigint, ip text, email text,
      ip_status text, ip_error text, ip_is_vpn boolean, ip_country text,
      email_status text, email_error text, email_is_valid boolean, email_trust_score real)" \
    -c "\copy signup_risk FROM STDIN WITH (FORMAT csv, HEADER)"
