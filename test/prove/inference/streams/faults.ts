/** Cases that went wrong: how many, and the first of them in full. */
const SHOWN = 3

export class Faults {
  #count = 0
  readonly #first: string[] = []

  add(text: string): void {
    this.#count++
    if (this.#first.length < SHOWN) this.#first.push(text)
  }

  get isNone(): boolean {
    return this.#count === 0
  }

  /** @param tried cases in all */
  reported(tried: number): string {
    const cases = `${tried.toLocaleString('en')} cases`
    return this.isNone ? `${cases}, 0 wrong` : `${cases}, ${this.#count} wrong: ${this.#first.join(' | ')}`
  }
}

/** Runs `each` on all items, so many at once. */
export async function together<T>(
  items: readonly T[],
  atOnce: number,
  each: (item: T) => Promise<void>,
): Promise<void> {
  let next = 0
  const worker = async (): Promise<void> => {
    for (let item = items[next++]; item !== undefined; item = items[next++]) await each(item)
  }
  await Promise.all(Array.from({ length: atOnce }, worker))
}
