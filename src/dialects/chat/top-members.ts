import { LOWER_N, OPEN_LIST, OPEN_OBJECT, QUOTE, type Span } from '../../schemas/values/json-bytes.ts'
import { countAt, isAt } from '../walk/json-reader.ts'
import { ODD, type Members, type ObjectWalk, SeenMembers, type Output } from '../walk/object-walk.ts'
import type { NativeHead } from '../parts.ts'
import { CHOICES_MAX } from '../../schemas/inference/inference-limits.ts'
import { DeltaMembers } from './delta-members.ts'
import { FoundFragments } from './tool-calls.ts'
import type { ChatForm } from './tool-members.ts'

const ID = 1
const OBJECT = 2
const CREATED = 4
const MODEL = 8
const PROVIDER = 16
const FINGERPRINT = 32
const USAGE = 64
const CHOICES = 128
const ERROR = 256
/** A `provider` member other than Sluice's. */
const OTHER_PROVIDER = 512

/** The most bytes, with quotes, of a provider's id that is kept; real ids are shorter. */
const ID_BYTES_MAX = 256

/** State of the outermost object at one of its members. */
export interface TopState {
  readonly seen: number
  readonly createdS: number
  readonly id: Span | null
}

/** The outermost object of an event or an answer. */
export class TopMembers implements Members {
  readonly itemsMax = 0
  createdS = 0
  /** The provider's own id, a text of JSON; null: the object has none. */
  id: Span | null = null
  usage: Span | null = null
  /** `service_tier`, a text of JSON; null: none, or it precedes `choices` and is the same as in the previous event. */
  tier: Span | null = null
  /** The provider reports a failure. */
  hasError = false
  /** Offset of `choices`; -1: the object has none. */
  choicesAt = -1
  readonly #walk: ObjectWalk
  readonly #form: ChatForm
  readonly #head: NativeHead
  readonly #choices: ChoiceMembers
  readonly #texts: {
    readonly id: string
    readonly object: string
    readonly model: string
    readonly provider: string
  }
  readonly #seen = new SeenMembers()
  /** Members seen before `choices`. */
  #seenBefore = 0
  /** Unix seconds of the first event that was passed on; null: there was none. */
  #fixedS: number | null = null
  #idBefore: Span | null = null

  constructor(
    walk: ObjectWalk,
    more: { readonly form: ChatForm; readonly head: NativeHead; readonly choices: ChoiceMembers },
  ) {
    this.#walk = walk
    this.#form = more.form
    this.#head = more.head
    this.#choices = more.choices
    this.#texts = {
      id: JSON.stringify(more.head.id),
      object: more.form === 'event' ? '"chat.completion.chunk"' : '"chat.completion"',
      model: JSON.stringify(more.head.model),
      provider: JSON.stringify(more.head.provider),
    }
  }

  begin(): void {
    this.restore({ seen: 0, createdS: this.#fixedS ?? this.#head.createdS, id: null })
  }

  /**
   * The state at `choices`, for later objects with the same beginning. The time is that of the first event
   * and may have come after its `choices`.
   */
  get state(): TopState {
    return { seen: this.#seenBefore, createdS: this.#fixedS ?? this.createdS, id: this.#idBefore }
  }

  /** Gives the time of this event to all later ones: some servers write a different time in each. */
  fix(): void {
    this.#fixedS ??= this.createdS
  }

  restore({ seen, createdS, id }: TopState): void {
    this.#seen.bits = seen
    this.createdS = createdS
    this.id = id
    this.usage = null
    this.tier = null
    this.hasError = false
    this.choicesAt = -1
  }

  member(key: number, length: number, at: number, depth: number): number {
    const { bytes } = this.#walk.json
    switch (length) {
      case 2:
        if (isAt(bytes, key, 'id')) return this.#id(at, depth)
        break
      case 5:
        if (isAt(bytes, key, 'model')) return this.#model(at, depth)
        if (isAt(bytes, key, 'usage')) return this.#used(at, depth)
        if (isAt(bytes, key, 'error')) return this.#failed(at, depth)
        break
      case 6:
        if (isAt(bytes, key, 'object')) return this.#object(at, depth)
        break
      case 7:
        if (isAt(bytes, key, 'choices')) return this.choices(at, depth)
        if (isAt(bytes, key, 'created')) return this.#created(at, depth)
        break
      case 8:
        if (isAt(bytes, key, 'provider')) return this.#provider(at, depth)
        break
      case 12:
        if (isAt(bytes, key, 'service_tier')) return this.#tier(at, depth)
        break
      case 18:
        if (isAt(bytes, key, 'system_fingerprint')) return this.#fingerprint(at, depth)
        break
    }
    return this.#walk.json.value(at, depth)
  }

  end(): string {
    const { id, object, model, provider } = this.#texts
    const seen = this.#seen
    const added: string[] = []
    if (!seen.has(ID)) added.push(`"id":${id}`)
    if (!seen.has(OBJECT)) added.push(`"object":${object}`)
    if (!seen.has(CREATED)) added.push(`"created":${this.createdS}`)
    if (!seen.has(MODEL)) added.push(`"model":${model}`)
    if (!seen.has(PROVIDER)) added.push(`"provider":${provider}`)
    if (this.#form === 'answer' && !seen.has(FINGERPRINT)) added.push('"system_fingerprint":null')
    return added.join(',')
  }

  other(): number {
    return ODD
  }

  /** The value of `choices`. */
  choices(at: number, depth: number): number {
    this.#seenBefore = this.#seen.bits
    this.#idBefore = this.id
    if (this.#walk.json.bytes[at] !== OPEN_LIST || !this.#seen.isFirst(CHOICES)) return ODD
    this.choicesAt = at
    return this.#walk.list(this.#choices, at, depth)
  }

  #id(at: number, depth: number): number {
    if (!this.#seen.isFirst(ID)) return ODD
    const { json } = this.#walk
    const end = json.value(at, depth)
    if (json.bytes[at] === QUOTE && end > at + 2 && end - at <= ID_BYTES_MAX) this.id = { start: at, end }
    return this.#walk.replace(at, end, this.#texts.id)
  }

  /** If there are several, the last one counts. */
  #tier(at: number, depth: number): number {
    const { json } = this.#walk
    const end = json.value(at, depth)
    if (json.bytes[at] === QUOTE && end > at + 2 && end - at <= ID_BYTES_MAX) this.tier = { start: at, end }
    return end
  }

  #model(at: number, depth: number): number {
    if (!this.#seen.isFirst(MODEL)) return ODD
    const { model, provider } = this.#texts
    const put = this.#seen.isFirst(PROVIDER) ? `${model},"provider":${provider}` : model
    return this.#walk.replace(at, this.#walk.json.value(at, depth), put)
  }

  /** A provider that is itself a gateway may write this member. */
  #provider(at: number, depth: number): number {
    const end = this.#walk.json.value(at, depth)
    // Sluice writes its own `provider` next to the model.
    if (!this.#seen.isFirst(PROVIDER)) return this.#seen.isFirst(OTHER_PROVIDER) ? this.#walk.cut(end) : ODD
    return this.#walk.replace(at, end, this.#texts.provider)
  }

  #object(at: number, depth: number): number {
    if (!this.#seen.isFirst(OBJECT)) return ODD
    const text = this.#texts.object
    const { json } = this.#walk
    const end = json.value(at, depth)
    if (end - at === text.length && isAt(json.bytes, at, text)) return end
    // Older versions of vLLM write the error without a member `error` around it.
    if (isAt(json.bytes, at, '"error"')) this.hasError = true
    return this.#walk.replace(at, end, text)
  }

  #created(at: number, depth: number): number {
    if (!this.#seen.isFirst(CREATED)) return ODD
    const { json } = this.#walk
    const end = json.value(at, depth)
    const created = countAt(json.bytes, at, end)
    if (created < 0 || (this.#fixedS !== null && created !== this.#fixedS))
      return this.#walk.replace(at, end, String(this.createdS))
    this.createdS = created
    return end
  }

  #fingerprint(at: number, depth: number): number {
    if (!this.#seen.isFirst(FINGERPRINT)) return ODD
    const { json } = this.#walk
    const end = json.value(at, depth)
    if (json.bytes[at] === QUOTE) return end
    if (this.#form === 'event') return this.#walk.cut(end)
    return json.bytes[at] === LOWER_N ? end : this.#walk.replace(at, end, 'null')
  }

  #used(at: number, depth: number): number {
    if (!this.#seen.isFirst(USAGE)) return ODD
    const { json } = this.#walk
    const end = json.value(at, depth)
    if (json.bytes[at] === OPEN_OBJECT && end > 0) this.usage = { start: at, end }
    return this.#walk.cut(end)
  }

  #failed(at: number, depth: number): number {
    if (!this.#seen.isFirst(ERROR)) return ODD
    const { json } = this.#walk
    const end = json.value(at, depth)
    if (isAt(json.bytes, at, 'null') || isAt(json.bytes, at, 'false')) return this.#walk.cut(end)
    this.hasError = true
    return end
  }
}

export interface ReadChoice {
  readonly index: number
  /** Its delta has the role. */
  readonly hasRole: boolean
  /** Null: the choice has not ended. */
  readonly finish: string | null
}

const INDEX = 1

const DELTA = 2

const FINISH = 4

const NATIVE = 8

const CHOICE_USAGE = 16

/** The most bytes of a finish reason, with quotes, since the value is kept; real ones are shorter. */
const FINISH_BYTES_MAX = 256

const NO_FINISH = '"finish_reason":null'

export class ChoiceMembers implements Members {
  readonly itemsMax = CHOICES_MAX
  /** Choices of the bytes that are being read. */
  choices: ReadChoice[] = []
  /** Usage reported inside a choice. */
  usage: Span | null = null
  /** A choice has no delta, or no message. */
  isOdd = false
  readonly #walk: ObjectWalk
  /** The delta of the choice that was read last. */
  readonly delta: DeltaMembers
  /** Fragments of calls in all choices. */
  readonly fragments = new FoundFragments()
  readonly #deltaName: 'delta' | 'message'
  readonly #seen = new SeenMembers()
  #index = 0
  /** Index of the choice's first fragment. */
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
    // Some servers write the index after the delta.
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
    if (!this.#seen.isFirst(CHOICE_USAGE)) return ODD
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
