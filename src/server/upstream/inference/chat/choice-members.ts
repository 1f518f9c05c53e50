import { CHOICES_MAX } from '../../../../schemas/inference/inference-limits.ts'
import { LOWER_N, OPEN_OBJECT, QUOTE, type Span } from '../../../../schemas/values/json-bytes.ts'
import { countAt, isAt } from '../../../../dialects/walk/json-reader.ts'
import { ODD, type Members, type ObjectWalk } from '../../../../dialects/walk/object-walk.ts'
import type { Output } from '../walk/output.ts'
import { SeenMembers } from '../walk/seen-members.ts'
import { DeltaMembers } from '../../../../dialects/chat/delta-members.ts'
import type { ChatForm } from '../../../../dialects/chat/mend.ts'
import { FoundFragments } from '../../../../dialects/chat/tool-calls.ts'

/** A choice as it was read. */
export interface ReadChoice {
  readonly index: number
  /** Its delta has the role. */
  readonly hasRole: boolean
  /** Null: the choice goes on. */
  readonly finish: string | null
}

const INDEX = 1
const DELTA = 2
const FINISH = 4
const NATIVE = 8
const USAGE = 16

/** Bytes of a finish reason with its quotes: the value is kept, and providers have shorter ones. */
const FINISH_BYTES_MAX = 256

const NO_FINISH = '"finish_reason":null'

/** An item of `choices`. */
export class ChoiceMembers implements Members {
  readonly itemsMax = CHOICES_MAX
  /** Choices of the bytes that are being read. */
  choices: ReadChoice[] = []
  /** Usage that stands in a choice. */
  usage: Span | null = null
  /** A choice has no delta, or no message. */
  isOdd = false
  readonly #walk: ObjectWalk
  /** Of the choice that was read last. */
  readonly delta: DeltaMembers
  /** Of calls, in all choices. */
  readonly fragments = new FoundFragments()
  readonly #deltaName: 'delta' | 'message'
  readonly #seen = new SeenMembers()
  #index = 0
  /** The first of the choice. */
  #fragment = 0
  #finish: string | null = null

  constructor(walk: ObjectWalk, form: ChatForm, output: Output) {
    this.#walk = walk
    this.delta = new DeltaMembers(walk, form, output, this.fragments)
    this.#deltaName = form === 'event' ? 'delta' : 'message'
  }

  clear(): void {
    this.choices = []
    this.fragments.clear()
    this.usage = null
    this.isOdd = false
  }

  begin(nth: number): void {
    this.#seen.bits = 0
    this.#fragment = this.fragments.count
    this.#index = nth
    this.#finish = null
  }

  member(key: number, length: number, at: number, depth: number): number {
    const { json } = this.#walk
    const { bytes } = json
    if (length === this.#deltaName.length && isAt(bytes, key, this.#deltaName)) {
      if (bytes[at] !== OPEN_OBJECT || !this.#seen.isFirst(DELTA)) return ODD
      return this.#walk.object(this.delta, at, 0, depth)
    }
    const end = json.value(at, depth)
    if (end < 0) return end
    switch (length) {
      case 5:
        if (isAt(bytes, key, 'index')) return this.#indexed(at, end)
        if (isAt(bytes, key, 'usage')) return this.#used(at, end)
        break
      case 13:
        if (isAt(bytes, key, 'finish_reason')) return this.#finished(at, end)
        break
      case 20:
        if (isAt(bytes, key, 'native_finish_reason') && !this.#seen.isFirst(NATIVE)) return ODD
        break
    }
    return end
  }

  end(): string {
    const finish = this.#finish
    const seen = this.#seen
    if (!seen.has(DELTA)) this.isOdd = true
    // Some servers write the index behind the delta.
    this.fragments.belong(this.#fragment, this.#index)
    this.choices.push({ index: this.#index, hasRole: this.delta.hasRole, finish })
    if (seen.has(INDEX | FINISH) && (finish === null || seen.has(NATIVE))) return ''
    if (seen.has(INDEX) && finish === null) return NO_FINISH
    const added: string[] = []
    if (!seen.has(INDEX)) added.push(`"index":${this.#index}`)
    if (!seen.has(FINISH)) added.push(NO_FINISH)
    if (finish !== null && !seen.has(NATIVE)) added.push(`"native_finish_reason":${JSON.stringify(finish)}`)
    return added.join(',')
  }

  other(): number {
    return ODD
  }

  #indexed(at: number, end: number): number {
    if (!this.#seen.isFirst(INDEX)) return ODD
    const index = countAt(this.#walk.json.bytes, at, end)
    if (index < 0) return this.#walk.replace(at, end, String(this.#index))
    this.#index = index
    return end
  }

  #used(at: number, end: number): number {
    if (!this.#seen.isFirst(USAGE)) return ODD
    if (this.#walk.json.bytes[at] === OPEN_OBJECT) this.usage = { start: at, end }
    return this.#walk.cut(end)
  }

  /** Some providers write the empty string until the choice ends. */
  #finished(at: number, end: number): number {
    if (!this.#seen.isFirst(FINISH) || end - at > FINISH_BYTES_MAX) return ODD
    const { bytes } = this.#walk.json
    if (bytes[at] === LOWER_N) return end
    if (bytes[at] !== QUOTE || end === at + 2) return this.#walk.replace(at, end, 'null')
    this.#finish = JSON.parse(bytes.toString('utf8', at, end)) as string
    return end
  }
}
