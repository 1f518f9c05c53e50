/** Open requests of one kind to another process, by number: each gets one answer, null when none comes. */
export class PendingRequests<T> {
  readonly #answerMsMax: number
  readonly #out = new Map<number, (answer: T | null) => void>()
  #next = 0

  constructor(answerMsMax: number) {
    this.#answerMsMax = answerMsMax
  }

  ask(send: (id: number) => void): Promise<T | null> {
    const id = this.#next++
    return new Promise((resolve) => {
      const settle = (answer: T | null): void => {
        clearTimeout(timer)
        this.#out.delete(id)
        resolve(answer)
      }
      const timer = setTimeout(settle, this.#answerMsMax, null)
      this.#out.set(id, settle)
      send(id)
    })
  }

  answer(id: number, answer: T | null): void {
    this.#out.get(id)?.(answer)
  }

  /** Settles the open requests with null: the other process has ended. */
  giveUp(): void {
    for (const settle of this.#out.values()) settle(null)
  }
}
