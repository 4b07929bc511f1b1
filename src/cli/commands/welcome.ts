/** `bulk-enrich` alone: what to do next. */
export async function welcome(): Promise<number> {
  process.stdout.write(`bulk-enrich enriches lists of IPs, phone numbers and e-mail addresses.

  bulk-enrich plan list.csv       what is in a list, and what it would cost; nothing is sent
  bulk-enrich run list.csv        enrich it: list.enriched.csv beside it
  bulk-enrich lookup ip 1.1.1.1   one value
  bulk-enrich --help              all commands
`);
  return 0;
}
