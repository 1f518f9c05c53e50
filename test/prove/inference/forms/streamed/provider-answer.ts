/** An answer as a provider gives it, streamed and whole. */
import type { Members } from '../../../../support/inference/accumulated.ts'
import type { Proof } from '../../../proof.ts'
import type { WrittenPart } from '../../../../../src/dialects/parts.ts'

export interface ProviderAnswer {
  readonly stream: Buffer
  readonly whole: Members
  /** The stream has its parts in the order of the whole answer. */
  readonly isInOrder: boolean
}

/** Makes an answer of what a model wrote, its events in an order that the protocol allows. */
export type Provider = (parts: readonly WrittenPart[], chance: Chance) => ProviderAnswer

export class Chance {
  readonly #proof: Pick<Proof, 'random'>

  constructor(proof: Pick<Proof, 'random'>) {
    this.#proof = proof
  }

  below(count: number): number {
    return this.#proof.random(count)
  }

  /** True once in so many times. */
  once(in_: number): boolean {
    return this.below(in_) === 0
  }

  /** A text in up to four pieces; some of them are empty. */
  pieces(text: string): readonly string[] {
    const cuts = Array.from({ length: this.below(4) }, () => this.below(text.length + 1)).sort(
      (a, b) => a - b,
    )
    return [0, ...cuts].map((from, nth) => text.slice(from, cuts[nth] ?? text.length))
  }

  /** Lists in one, each in its own order, and their first ones in the order of the lists. */
  merged<T>(lists: readonly (readonly T[])[]): readonly T[] {
    const left = lists.map((list) => [...list])
    const begun: T[][] = []
    const all: T[] = []
    for (;;) {
      const next = left[0]
      const open = begun.filter((list) => list.length > 0)
      if (next === undefined && open.length === 0) return all
      const at = this.below(open.length + (next === undefined ? 0 : 1))
      const list = open[at] ?? left.shift()
      if (list === undefined) return all
      if (!begun.includes(list)) begun.push(list)
      all.push(...list.splice(0, 1))
    }
  }

  /** The bytes, cut at up to six places. */
  cut(bytes: Uint8Array): readonly Uint8Array[] {
    const cuts = Array.from({ length: this.below(7) }, () => this.below(bytes.length + 1)).sort(
      (a, b) => a - b,
    )
    return [0, ...cuts].map((from, nth) => bytes.subarray(from, cuts[nth] ?? bytes.length))
  }
}

/** Events of a stream, each with the name of its type where it has one. */
export function streamOf(events: readonly Members[], end = ''): Buffer {
  const lines = events.map((event) => {
    const name = typeof event['type'] === 'string' ? `event: ${event['type']}\n` : ''
    return `${name}data: ${JSON.stringify(event)}\n\n`
  })
  return Buffer.from(lines.join('') + end)
}
