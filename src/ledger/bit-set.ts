/** A set of whole numbers, a bit for each number up to the largest. */
export class BitSet {
  #bytes = new Uint8Array(4_096);

  add(number: number): void {
    const at = Math.floor(number / 8);
    if (at >= this.#bytes.length) {
      const longer = new Uint8Array(2 * at);
      longer.set(this.#bytes);
      this.#bytes = longer;
    }
    this.#bytes[at] = (this.#bytes[at] ?? 0) | (1 << (number % 8));
  }

  has(number: number): boolean {
    return ((this.#bytes[Math.floor(number / 8)] ?? 0) & (1 << (number % 8))) !== 0;
  }
}
