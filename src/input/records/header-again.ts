/** True for a row that repeats a header with letters, as in joined lists. A header without letters may be data. */
export function isHeaderAgain(fields: readonly string[], header: readonly string[] | undefined): boolean {
  // In joined lists, the second list may begin with a byte order mark.
  const first = fields[0]?.replace(/^\uFEFF/, '');
  if (header === undefined || first !== header[0]) return false;
  const isSame =
    fields.length === header.length && fields.every((field, at) => at === 0 || field === header[at]);
  return isSame && header.some(cell => /\p{L}/u.test(cell));
}
