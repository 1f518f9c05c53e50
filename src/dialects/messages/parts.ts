import { Compile } from 'typebox/compile'
import Type, { type Static } from 'typebox'
import type { Failure } from '../../schemas/failures.ts'
import { TOOLS_MAX } from '../../schemas/inference/inference-limits.ts'
import { isObject, membersOf, objectOf, type Members } from '../../schemas/values/members.ts'
import { MessagesUsage } from './usage.ts'
import { INVALID } from '../native-events.ts'
import { NO_ANSWER, CLEANED_LATER, parsed, PartEvents } from '../part-events.ts'
import { PartQueue, type OpenCall } from '../part-queue.ts'
import type { FinishReason, TokenUsage, WholeParts, WholeRead } from '../parts.ts'
import { SIGNATURE_FORMATS, type SignatureUse } from '../prompt/signatures.ts'
import { writtenJson } from '../walk/written-json.ts'
import { Free, maybe, OPEN } from '../../schemas/inference/text-members.ts'

/** Finish reasons by the provider's word; every other word means a stop. */
const REASONS: ReadonlyMap<string, FinishReason> = new Map([
  ['max_tokens', 'length'],
  ['model_context_window_exceeded', 'length'],
  ['tool_use', 'tool_calls'],
  ['refusal', 'content_filter'],
])
const STOP_SEQUENCE = 'stop_sequence'

/** The stream of a provider that speaks messages, for callers of other dialects. */
export class MessagesParts extends PartEvents {
  readonly #usage = new MessagesUsage()
  readonly #queue = new PartQueue({ write: (part) => this.write(part), answerId: () => this.upstreamId })
  /** Open blocks by their places: a single block, or only calls. */
  readonly #open = new Map<number, OpenBlock>()
  /** The place of the block that began last. */
  #last = 0
  /** An event of the message was received. */
  #hasBegun = false
  #hasCalls = false
  #stopSequence: string | null = null

  override get heldBytes(): number {
    return super.heldBytes + this.#queue.heldBytes
  }

  get usage(): TokenUsage | null {
    return this.#usage.tokens
  }

  protected override take(members: Members, name: string): Failure | 'failed' | null {
    const { type: declaredType } = members
    const type = typeof declaredType === 'string' && declaredType !== '' ? declaredType : name
    if (type === 'error' || (members['error'] ?? null) !== null) return 'failed'
    const event = messageEventOf(members)
    return event === null ? INVALID : this.#take(type, event)
  }

  #take(type: string, event: MessageEvent): Failure | null {
    switch (type) {
      case 'message_start':
        this.#started(membersOf(event.message))
        return null
      case 'content_block_start':
        return this.#begin(event)
      case 'content_block_delta':
        return this.#add(event)
      case 'content_block_stop':
        return this.#stopped(event)
      case 'message_delta':
        this.#tell(event.delta ?? {}, (event as Members)['usage'])
        return null
      case 'message_stop':
        return this.#stop()
      default:
        return null
    }
  }

  #started({ id, usage }: Members): void {
    this.#hasBegun = true
    if (typeof id === 'string' && id !== '') this.upstreamId ??= id
    this.#usage.beganWith(objectOf(usage))
    this.report(membersOf(usage))
  }

  #begin({ content_block: block, index }: MessageEvent): Failure | null {
    this.#hasBegun = true
    if (block === null || block === undefined) return INVALID
    const isCall = block.type === 'tool_use'
    if (isCall && ((block.id ?? '') === '' || (block.name ?? '') === '')) return INVALID
    const at = index ?? 0
    const failure = this.#makeRoom(at, isCall)
    if (failure !== null) return failure
    this.#hasCalls ||= isCall
    const open = new OpenBlock(block, this.#queue)
    this.#open.set(at, open)
    this.#last = at
    return open.begin()
  }

  /**
   * Some servers leave out the end of a block. Others start several calls before one ends; the fragments are
   * assigned to them by index.
   */
  #makeRoom(at: number, isCall: boolean): Failure | null {
    for (const [place, { call }] of this.#open) {
      const isBeside = isCall && call !== null && place !== at
      const failure = isBeside ? null : this.#end(place)
      if (failure !== null) return failure
    }
    return this.#open.size < TOOLS_MAX ? null : INVALID
  }

  #add({ delta, index }: MessageEvent): Failure | null {
    const open = this.#open.get(index ?? this.#last)
    return open === undefined ? INVALID : open.add(delta ?? {})
  }

  /** Some servers number the ends of blocks differently; then the last block ends. */
  #stopped({ index }: MessageEvent): Failure | null {
    return this.#end(typeof index === 'number' && this.#open.has(index) ? index : this.#last)
  }

  #end(index: number): Failure | null {
    const open = this.#open.get(index)
    this.#open.delete(index)
    return open === undefined ? null : open.end()
  }

  #endAll(): Failure | null {
    for (const place of this.#open.keys()) {
      const failure = this.#end(place)
      if (failure !== null) return failure
    }
    return null
  }

  #tell({ stop_reason: reason, stop_sequence: sequence }: MessageDelta, usage: unknown): void {
    this.#hasBegun = true
    this.finishReason = reason ?? this.finishReason
    this.#stopSequence = sequence ?? this.#stopSequence
    this.#usage.updateWith(objectOf(usage))
    this.report(membersOf(usage))
  }

  /** An end before the message has begun belongs to another stream. */
  #stop(): Failure | null {
    if (!this.#hasBegun) return INVALID
    const failure = this.#endAll()
    if (failure !== null) return failure
    this.isDone = true
    const native = this.finishReason ?? (this.#hasCalls ? 'tool_use' : 'end_turn')
    const reason = REASONS.get(native) ?? 'stop'
    const stopSequence = native === STOP_SEQUENCE ? this.#stopSequence : null
    this.write({ kind: 'finish', choice: 0, reason, native, stopSequence })
    return null
  }
}

/** Failures: also upstream_invalid for an error and for a body that is not a message. */
export function messageWhole(body: Buffer): WholeRead<WholeParts> {
  const message = parsed(body)
  if (message === null || (message['type'] ?? 'message') !== 'message') return NO_ANSWER
  const { content, stop_reason, stop_sequence, usage, error, ...head } = message
  if (!Array.isArray(content) || (error ?? null) !== null) return NO_ANSWER
  const blocks = content.flatMap((content_block: unknown, index) => [
    { type: 'content_block_start', index, content_block },
    { type: 'content_block_stop', index },
  ])
  return new MessagesParts(CLEANED_LATER).whole([
    { type: 'message_start', message: head },
    ...blocks,
    { type: 'message_delta', delta: { stop_reason, stop_sequence }, ...(isObject(usage) && { usage }) },
    { type: 'message_stop' },
  ])
}

const format = SIGNATURE_FORMATS.messages

/** The open block of a message. Blocks of unknown types produce no parts. */
export class OpenBlock {
  /** Null: the block calls no tool. */
  readonly call: OpenCall | null
  readonly #block: ContentBlock
  readonly #queue: PartQueue
  /** The last signature; Anthropic's client library also uses the last one. */
  #signature: string
  #hasArguments = false

  constructor(block: ContentBlock, queue: PartQueue) {
    this.#block = block
    this.#queue = queue
    this.#signature = block.signature ?? ''
    this.call = block.type === 'tool_use' ? queue.begin() : null
  }

  /** Blocks mostly begin empty. */
  begin(): Failure | null {
    const { type, text, thinking, id, name } = this.#block
    if (this.call === null) return this.#say(type, type === 'text' ? text : thinking)
    this.call.id = id ?? null
    this.call.name = name ?? null
    return this.#queue.add(this.call, '')
  }

  add({ text, thinking, signature, partial_json: json }: MessageDelta): Failure | null {
    const { type } = this.#block
    if (type === 'thinking') this.#signature = signature ?? this.#signature
    if (this.call === null) return this.#say(type, type === 'text' ? text : thinking)
    this.#hasArguments ||= (json ?? '') !== ''
    return this.#queue.add(this.call, json ?? '')
  }

  end(): Failure | null {
    const { type, data } = this.#block
    if (this.call !== null) return this.#endCall(this.call)
    if (type === 'thinking') return this.#sign(this.#signature, 'reasoning')
    return type === 'redacted_thinking' ? this.#sign(data ?? '', 'redacted') : null
  }

  #endCall(call: OpenCall): Failure | null {
    const { input } = this.#block as ContentBlock & { readonly input?: unknown }
    // An empty object is the beginning of arguments that follow in fragments.
    const failure = this.#hasArguments ? null : this.#queue.add(call, writtenJson(input) ?? '{}')
    call.isClosed = true
    return failure ?? this.#queue.advance()
  }

  #say(type: string, text: string | null | undefined): Failure | null {
    if ((text ?? '') === '' || (type !== 'text' && type !== 'thinking')) return null
    const kind = type === 'text' ? 'text' : 'reasoning'
    return this.#queue.say({ kind, choice: 0, text: text ?? '' })
  }

  /** Keeps the signature in the provider's format, whatever its bytes are, since they are returned to that provider. */
  #sign(data: string, of: SignatureUse): Failure | null {
    return data === ''
      ? null
      : this.#queue.say({ kind: 'signature', choice: 0, signature: { format, data }, of })
  }
}

const Text = maybe(Type.String())

const Block = Type.Object(
  { type: Type.String(), text: Text, thinking: Text, signature: Text, data: Text, id: Text, name: Text },
  OPEN,
)

export type ContentBlock = Static<typeof Block>

const Delta = Type.Object(
  {
    type: Text,
    text: Text,
    thinking: Text,
    signature: Text,
    partial_json: Text,
    stop_reason: Text,
    stop_sequence: Text,
  },
  OPEN,
)

/** A change to a block or to the message. */
export type MessageDelta = Static<typeof Delta>

const Event = Type.Object(
  {
    index: maybe(Type.Integer()),
    message: maybe(Free),
    content_block: maybe(Block),
    delta: maybe(Delta),
  },
  OPEN,
)

export type MessageEvent = Static<typeof Event>

const EVENT = Compile(Event)

/** Null: a member that Sluice reads has a wrong type. */
export function messageEventOf(event: Readonly<Record<string, unknown>>): MessageEvent | null {
  return EVENT.Check(event) ? event : null
}
