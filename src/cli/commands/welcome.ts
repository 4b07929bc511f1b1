/** `bulk-enrich` alone: what to do next. */
export async function welcome(): Promise<number> {
  process.stdout.write(`bulk-enrich enriches lists of IPs, phone numbers and e-mail addresses.

  bulk-enrich plan list.csv       what is in a list, and what it would cost; nothing is sent
  bulk-enrich run list.csv        enrich it: list.enriched.csv beside it
  bulk-enrich init list.csv       a job file for a list that comes every night
  bulk-enrich lookup ip 1.1.1.1   one value
  bulk-enrich serve               the service itself, answered from open data
  bulk-enrich --help              all commands; bulk-enrich run --help all settings
`);
  return 0;
}
