const byte = (character: string) => character.charCodeAt(0);
const [QUOTE, BACKSLASH] = ['"', '\\'].map(byte);
const [OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT] = [...'[]{}'].map(byte);
const GAPS: ReadonlySet<number | undefined> = new Set([...' \t\r\n,\x1e'].map(byte));

/** A place in a text of JSON values: between them, or in one. */
export class JsonPlace {
  isOpen = false;
  isInList = false;
  depth = 0;
  #isInText = false;
  #isEscaped = false;

  /** True if this character follows a number or a word, which ends before it. */
  endsBefore(character: number | undefined): boolean {
    const ends = this.isOpen && this.depth === 0 && !this.#isInText;
    if (!ends || !(GAPS.has(character) || character === CLOSE_LIST)) return false;
    this.isOpen = false;
    return true;
  }

  /** True if a value begins with this character. */
  beginsAt(character: number | undefined): boolean {
    if (this.isOpen || GAPS.has(character)) return false;
    if (character === (this.isInList ? CLOSE_LIST : OPEN_LIST)) {
      this.isInList = !this.isInList;
      return false;
    }
    this.isOpen = true;
    return true;
  }

  /** True if this character ends an object or a list. */
  endsAfter(character: number | undefined): boolean {
    if (!this.isOpen) return false;
    if (this.#isEscaped) this.#isEscaped = false;
    else if (this.#isInText && character === BACKSLASH) this.#isEscaped = true;
    else if (character === QUOTE) this.#isInText = !this.#isInText;
    else if (this.#isInText) return false;
    else if (character === OPEN_OBJECT || character === OPEN_LIST) this.depth++;
    else if (character === CLOSE_OBJECT || character === CLOSE_LIST) {
      this.depth = Math.max(0, this.depth - 1);
      this.isOpen = this.depth > 0;
      return !this.isOpen;
    }
    return false;
  }
}
