/** True for a row that is the header, as lists have where others were put behind them: no value is in it. */
export function isHeaderAgain(fields: readonly string[], header: readonly string[] | undefined): boolean {
  // A list that was put behind another brings its byte order mark.
  const first = fields[0]?.replace(/^\uFEFF/, '');
  if (header === undefined || first !== header[0]) return false;
  const isSame =
    fields.length === header.length && fields.every((field, at) => at === 0 || field === header[at]);
  return isSame && header.some(cell => /\p{L}/u.test(cell));
}
