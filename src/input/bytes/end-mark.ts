/** Ctrl-Z, with which DOS programs end a text. */
const END = 0x1a;

/** The text without end marks (Ctrl-Z) at its end, which are not a row. Within the text they stay. */
export async function* withoutEndMark(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let held: Buffer[] = [];
  for await (const chunk of chunks) {
    let end = chunk.length;
    while (end > 0 && chunk[end - 1] === END) end -= 1;
    if (end > 0) {
      yield* held;
      held = [];
      yield end === chunk.length ? chunk : chunk.subarray(0, end);
    }
    if (end < chunk.length) held.push(chunk.subarray(end));
  }
}
