/**
 * Runs functions after the library has parsed all bytes of its read. The library does not tell the end of a
 * read; but it parses only while the loop polls, and immediates run after that.
 */
export class ReadEnd {
  #acts: (() => void)[] = []

  /** @param act must not throw */
  after(act: () => void): void {
    if (this.#acts.push(act) === 1) setImmediate(() => this.#run())
  }

  #run(): void {
    const acts = this.#acts
    this.#acts = []
    for (const act of acts) act()
  }
}
