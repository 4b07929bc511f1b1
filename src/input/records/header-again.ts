/** True for a row that is the header, as lists have where others were put behind them: no value is in it. */
export function isHeaderAgain(fields: readonly string[], header: readonly string[] | undefined): boolean {
  if (header === undefined || fields[0] !== header[0]) return false;
  const isSame = fields.length === header.length && fields.every((field, index) => field === header[index]);
  return isSame && header.some(cell => /\p{L}/u.test(cell));
}
