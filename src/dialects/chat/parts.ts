import { Compile } from 'typebox/compile'
import Type, { type Static } from 'typebox'
import { ok, type Failure, type Outcome } from '../../schemas/failures.ts'
import { isObject, membersOf, type Members } from '../../schemas/values/members.ts'
import { chatTokensOf } from './usage.ts'
import { INVALID } from '../native-events.ts'
import { NO_ANSWER, CLEANED_LATER, parsed, PartEvents } from '../part-events.ts'
import { PartQueue, type OpenCall } from '../part-queue.ts'
import type { FinishReason, TokenUsage, WrittenPart, WholeParts, WholeRead } from '../parts.ts'
import { thinksIn } from '../walk/object-walk.ts'
import { SIGNATURE_FORMATS, UNKNOWN_FORMAT } from '../prompt/signatures.ts'
import { TOOLS_MAX } from '../../schemas/inference/inference-limits.ts'
import { writtenJson } from '../walk/written-json.ts'
import { KnownCalls } from './tool-calls.ts'
import { Free, maybe, OPEN } from '../../schemas/inference/text-members.ts'

type Finish = Extract<WrittenPart, { readonly kind: 'finish' }>

/** Finish reasons by the provider's word; every other word means a stop. */
const REASONS: ReadonlyMap<string, FinishReason> = new Map([
  ['length', 'length'],
  ['max_tokens', 'length'],
  ['model_length', 'length'],
  ['content_filter', 'content_filter'],
  ['tool_calls', 'tool_calls'],
  ['function_call', 'tool_calls'],
])

/** The stream of a provider that speaks chat, for callers of other dialects, who ask for one choice. */
export class ChatParts extends PartEvents {
  readonly #queue = new PartQueue({ write: (part) => this.write(part), answerId: () => this.upstreamId })
  readonly #calls = new ChatCalls(this.#queue)
  /** The choice has begun. */
  #index: number | null = null
  /** The last finish reason: some servers write one in each chunk. Null: the choice has not ended. */
  #finish: Finish | null = null
  /** Result of writing the parts that waited for the end; null: the end has not come. */
  #ended: Outcome<null> | null = null
  #usage: TokenUsage | null = null

  override get heldBytes(): number {
    return super.heldBytes + this.#queue.heldBytes
  }

  /** The last usage that the provider reported; null when there is no usage, it is not numeric, or it reports zero output although output was sent. */
  get usage(): TokenUsage | null {
    const usage = this.#usage
    return usage !== null && this.hasOutput && usage.output + usage.reasoning === 0 ? null : usage
  }

  protected override get isWhole(): boolean {
    return this.#finish !== null
  }

  protected override done(): Failure | null {
    this.isDone = true
    return this.#end()
  }

  override end(): Failure | null {
    return super.end() ?? this.#end()
  }

  /** Many streams lack the end mark. */
  get finalParts(): readonly WrittenPart[] {
    this.#end()
    return this.given()
  }

  protected override take(members: Members): Failure | 'failed' | null {
    const event = chatEventOf(members)
    const { error } = members
    if (event?.choices?.some(({ finish_reason: finish }) => finish === 'error')) return this.failureIn(error)
    if ((error ?? false) !== false) return 'failed'
    if (event === null) return INVALID
    if (typeof members['id'] === 'string' && members['id'] !== '') this.upstreamId ??= members['id']
    this.#tell(members['usage'])
    this.report(members)
    for (const choice of event.choices ?? []) {
      const failure = this.#choice(choice)
      if (failure !== null) return failure
    }
    return null
  }

  #choice(choice: ChatChoice): Failure | null {
    const { delta, finish_reason: finish } = choice
    const index = choice.index ?? 0
    this.#index ??= index
    // Only one choice was requested.
    if (index !== this.#index) return INVALID
    this.#tell((choice as Members)['usage'])
    const failure = delta === null || delta === undefined ? null : this.#addDelta(delta)
    if (failure !== null) return failure
    if ((finish ?? '') !== '') this.#finished(choice, finish ?? '')
    return null
  }

  #addDelta(delta: NonNullable<ChatChoice['delta']>): Failure | null {
    for (const name of ['reasoning', 'reasoning_content'] as const)
      if (typeof delta[name] === 'string' && delta[name] !== '') this.thinksIn = thinksIn(this.thinksIn, name)
    const parts = deltaParts(delta)
    const calls = callsIn(delta)
    for (const one of parts) {
      const failure = 'id' in one ? this.#calls.sign(one, calls) : this.#queue.say(one.part)
      if (failure !== null) return failure
    }
    for (const fragment of calls) {
      const failure = this.#calls.add(fragment)
      if (failure !== null) return failure
    }
    return null
  }

  #finished(choice: ChatChoice, finish: string): void {
    this.finishReason = finish
    const reason = REASONS.get(finish) ?? 'stop'
    const stop = (choice as Members)['stop_reason']
    const stopSequence = reason === 'stop' && typeof stop === 'string' ? stop : null
    const native = choice.native_finish_reason ?? finish
    this.#finish = { kind: 'finish', choice: 0, reason, native, stopSequence }
  }

  /** Nothing follows. */
  #end(): Failure | null {
    const finish = this.#finish
    if (finish === null) return null
    if (this.#ended === null) {
      const failure = this.#calls.end()
      this.#ended = failure === null ? ok(null) : { ok: false, failure }
      // When the request names the tool to call, servers report the same word as after a text.
      const isCall = finish.reason === 'stop' && this.#queue.calls > 0
      if (failure === null) this.write(isCall ? { ...finish, reason: 'tool_calls' } : finish)
    }
    return this.#ended.ok ? null : this.#ended.failure
  }

  #tell(usage: unknown): void {
    if (isObject(usage)) this.#usage = chatTokensOf(usage, false)
  }
}

/** `function_call`, the predecessor of `tool_calls`, has neither id nor index; servers that write both members mean the same call. */
function callsIn({ tool_calls: calls, function_call: call }: ChoiceDelta): readonly CallFragment[] {
  if (calls !== null && calls !== undefined && calls.length > 0) return calls
  return call === null || call === undefined ? [] : [{ index: 0, function: call }]
}

/** Failures: also upstream_invalid for an error unless a choice ended with it, and for an answer without choices. */
export function chatWhole(body: Buffer): WholeRead<WholeParts> {
  const { choices, ...head } = parsed(body) ?? {}
  if (!Array.isArray(choices) || !choices.every((choice) => isObject(membersOf(choice)['message'])))
    return NO_ANSWER
  const asDeltas = choices.map((choice) => {
    const { message, finish_reason: finish, ...more } = membersOf(choice)
    // A whole answer is complete even without a finish reason.
    return { ...more, delta: message, finish_reason: (finish ?? '') === '' ? 'stop' : finish }
  })
  return new ChatParts(CLEANED_LATER).whole([{ ...head, choices: asDeltas }])
}

type SignedPart = Extract<ChatPart, { id: string | null }>

/** The calls of a choice of chat, whose fragments come in any order. */
export class ChatCalls {
  readonly #queue: PartQueue
  readonly #known = new KnownCalls<OpenCall>()
  /** Signatures of calls that have not begun, by the ids of the calls. */
  readonly #early = new Map<string, SignedPart['part']>()
  #count = 0

  constructor(queue: PartQueue) {
    this.#queue = queue
  }

  add({ index, id, function: called }: CallFragment): Failure | null {
    const fragment = { index: index ?? null, id: id ?? '', name: called?.name ?? '' }
    const call = this.#known.of(fragment) ?? this.#begun()
    if (call === null) return INVALID
    const hadId = call.id !== null
    this.#known.remember(call, fragment)
    if (!hadId && call.id !== null) this.#signEarly(call, call.id)
    const json = called?.arguments ?? ''
    return this.#queue.add(call, typeof json === 'string' ? json : (writtenJson(json) ?? ''))
  }

  /**
   * A signature belongs to the call with the same id. Gemini's may come before its call.
   * @param next fragments that come with it
   */
  sign({ part, id }: SignedPart, next: readonly CallFragment[]): Failure | null {
    const call = id === null ? undefined : this.#known.withId(id)
    if (call !== undefined) return this.#queue.sign(call, part.signature)
    const isAwaited =
      part.signature.format === SIGNATURE_FORMATS.gemini || next.some((fragment) => fragment.id === id)
    if (id === null || !isAwaited) return this.#queue.say(part)
    const before = this.#early.get(id)
    if (before !== undefined) this.#queue.drop(before)
    this.#early.set(id, part)
    return this.#early.size > TOOLS_MAX ? INVALID : this.#queue.keep(part)
  }

  /** No fragment follows. */
  end(): Failure | null {
    for (const part of this.#early.values()) {
      this.#queue.drop(part)
      const failure = this.#queue.say(part)
      if (failure !== null) return failure
    }
    return this.#queue.flush()
  }

  /** Null: too many calls. */
  #begun(): OpenCall | null {
    return this.#count < TOOLS_MAX ? this.#queue.begin(this.#count++) : null
  }

  /** Moves the kept signature to its call; its size counts as before. */
  #signEarly(call: OpenCall, id: string): void {
    call.signature = this.#early.get(id)?.signature ?? null
    this.#early.delete(id)
  }
}

type Signed = Extract<WrittenPart, { kind: 'signature' }>

/** A part of a choice other than a call; a signature has the id that the provider gave it. */
export type ChatPart =
  { readonly part: Exclude<WrittenPart, Signed> } | { readonly part: Signed; readonly id: string | null }

/** The parts of a delta, in the order in which models write. */
export function deltaParts({
  reasoning_details: details,
  reasoning,
  reasoning_content,
  content,
  refusal,
}: ChoiceDelta): readonly ChatPart[] {
  const entries = details ?? []
  return [
    // The entries already contain this text.
    ...(entries.length > 0 ? entries.flatMap(detailIn) : textOf('reasoning', reasoning ?? reasoning_content)),
    ...(Array.isArray(content) ? content.flatMap(partIn) : textOf('text', content)),
    ...textOf('refusal', refusal),
  ]
}

function textOf(kind: 'text' | 'reasoning' | 'refusal', text: unknown): readonly ChatPart[] {
  return typeof text === 'string' && text !== '' ? [{ part: { kind, choice: 0, text } }] : []
}

function partIn(part: DeltaPart): readonly ChatPart[] {
  if (typeof part === 'string') return textOf('text', part)
  const { type, text, thinking } = part
  if ((type ?? 'text') === 'text') return textOf('text', text)
  if (type !== 'thinking') return []
  const texts = Array.isArray(thinking) ? thinking.map(thoughtIn) : [thinking]
  return texts.flatMap((one) => textOf('reasoning', one))
}

function thoughtIn(part: unknown): unknown {
  return typeof part === 'string' ? part : membersOf(part)['text']
}

function detailIn(detail: Detail): readonly ChatPart[] {
  const { type, text, summary, data, signature, format } = detail
  switch (type) {
    case 'reasoning.text':
      return [...textOf('reasoning', text), ...signed(signature, detail, 'reasoning')]
    case 'reasoning.summary':
      return (summary ?? '') === ''
        ? []
        : [{ part: { kind: 'reasoning', choice: 0, text: summary ?? '', isSummary: true } }]
    case 'reasoning.encrypted':
      // Only Anthropic has redacted reasoning, which needs no text.
      return signed(data, detail, format === SIGNATURE_FORMATS.messages ? 'redacted' : 'reasoning')
    default:
      return []
  }
}

function signed(
  data: string | null | undefined,
  { format, id }: Detail,
  of: Signed['of'],
): readonly ChatPart[] {
  if ((data ?? '') === '') return []
  const signature = { format: format ?? UNKNOWN_FORMAT, data: data ?? '' }
  return [{ part: { kind: 'signature', choice: 0, signature, of }, id: id ?? null }]
}

const Text = maybe(Type.String())

const Index = maybe(Type.Integer({ minimum: 0 }))

// Some servers write the arguments as an object instead of its JSON text.
const Called = maybe(Type.Object({ name: Text, arguments: maybe(Type.Union([Type.String(), Free])) }, OPEN))

const Fragment = Type.Object({ index: Index, id: Text, function: Called }, OPEN)

export type CallFragment = Static<typeof Fragment>

/** An entry of `reasoning_details`, or a fragment of one. */
const Detail = Type.Object(
  { type: Type.String(), text: Text, summary: Text, data: Text, signature: Text, format: Text, id: Text },
  OPEN,
)

export type Detail = Static<typeof Detail>

/** Mistral writes parts; those of type `thinking` contain further parts. */
const Part = Type.Object(
  { type: Text, text: Text, thinking: maybe(Type.Union([Type.String(), Type.Array(Free)])) },
  OPEN,
)

const ChoiceDelta = Type.Object(
  {
    content: maybe(Type.Union([Type.String(), Type.Array(Type.Union([Type.String(), Part]))])),
    reasoning: Text,
    reasoning_content: Text,
    reasoning_details: maybe(Type.Array(Detail)),
    refusal: Text,
    tool_calls: maybe(Type.Array(Fragment)),
    function_call: Called,
  },
  OPEN,
)

/** A choice of a stream's event or of a whole answer. */
export type ChoiceDelta = Static<typeof ChoiceDelta>

export type DeltaPart = string | Static<typeof Part>

const Choice = Type.Object(
  { index: Index, delta: maybe(ChoiceDelta), finish_reason: Text, native_finish_reason: Text },
  OPEN,
)

export type ChatChoice = Static<typeof Choice>

const Event = Type.Object({ choices: maybe(Type.Array(Choice)) }, OPEN)

const EVENT = Compile(Event)

/** Null: a member that Sluice reads has a wrong type. */
export function chatEventOf(event: Readonly<Record<string, unknown>>): Static<typeof Event> | null {
  return EVENT.Check(event) ? event : null
}
