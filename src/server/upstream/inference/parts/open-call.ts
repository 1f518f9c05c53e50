import type { Signature } from '../../../../dialects/prompt.ts'
import type { NamedCall } from '../chat/known-calls.ts'
import { JsonEnd } from './json-end.ts'

/** A call of a tool whose fragments come one by one, the name not always first. */
export class OpenCall implements NamedCall {
  readonly nth: number
  /** As the provider counts it; null: it has none. */
  index: number | null = null
  /** Null: it has not come. */
  id: string | null = null
  /** Null: it has not come. */
  name: string | null = null
  signature: Signature | null = null
  /** Its first part was written. */
  hasBegun = false
  /** Arguments of it were written. */
  hasArguments = false
  /** All of it was written. */
  isWritten = false
  /** Arguments that were not written yet. */
  held = ''
  /** The provider, or the end of the answer, says that nothing follows. */
  isClosed = false
  readonly #end = new JsonEnd()

  /** @param nth its place among the calls, from 0 on */
  constructor(nth: number) {
    this.nth = nth
  }

  /** No arguments follow. */
  get isOver(): boolean {
    return this.isClosed || this.#end.isOver
  }

  /** Arguments are one JSON value: what servers send behind its end, as the same once more, is none of it. */
  add(text: string): void {
    if (this.isOver) return
    this.held += text.slice(0, this.#end.add(text))
  }
}
