const ESCAPE = '\u001B';
const ERASE_LINE = `${ESCAPE}[2K`;
/** Sequences that the command may send to a terminal: carriage return, line feed, "erase this line", colours, text. */
const PIECE = new RegExp(`\\r|\\n|${ESCAPE}\\[2K|${ESCAPE}\\[\\d+m|[^\\r\\n${ESCAPE}]`, 'gu');
/** A control sequence that has only begun. */
const BEGUN = new RegExp(`${ESCAPE}(\\[\\d*)?$`, 'u');

/**
 * The visible text on a terminal of this many columns. It knows only the control sequences that the command may use.
 */
export class Screen {
  columns: number;
  /** Lines that stood there and were erased, in their order. */
  readonly erased: string[] = [];
  /** Control sequences for colours, in their order. */
  readonly colours: string[] = [];
  readonly #lines: string[][] = [[]];
  #column = 0;
  #rest = '';

  constructor(columns: number) {
    this.columns = columns;
  }

  get lines(): string[] {
    return this.#lines.map(line => line.join('').trimEnd());
  }

  /** @throws where something is no text and none of the control sequences allowed. */
  write(text: string): void {
    const all = this.#rest + text;
    // A sequence may be cut in two between chunks.
    const cut = BEGUN.exec(all)?.index ?? all.length;
    this.#rest = all.slice(cut);
    const whole = all.slice(0, cut);
    const pieces = whole.match(PIECE) ?? [];
    if (pieces.join('') !== whole) throw new Error(`unknown control sequence in ${JSON.stringify(whole)}`);
    for (const piece of pieces) this.#apply(piece);
  }

  #apply(piece: string): void {
    if (piece === '\r') this.#column = 0;
    else if (piece === '\n') this.#lines.push([]);
    else if (piece === ERASE_LINE) {
      this.erased.push(this.#line().join('').trimEnd());
      this.#line().length = 0;
    } else if (piece.startsWith(ESCAPE)) this.colours.push(piece);
    else this.#put(piece);
  }

  #put(character: string): void {
    if (this.#column === this.columns) {
      this.#lines.push([]);
      this.#column = 0;
    }
    const line = this.#line();
    while (line.length < this.#column) line.push(' ');
    line[this.#column] = character;
    this.#column += 1;
  }

  #line(): string[] {
    return this.#lines.at(-1) as string[];
  }
}
