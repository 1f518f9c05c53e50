/**
 * Runs what must wait until the library has parsed all that it has read. It does not say when a read ends;
 * but all that it parses it parses while the loop polls, and immediates run behind that.
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
