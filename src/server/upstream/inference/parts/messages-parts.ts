import type { Failure } from '../../../../schemas/failures.ts'
import { isObject, membersOf, objectOf, type Members } from '../../../../schemas/values/members.ts'
import type { FinishReason, TokenUsage, WrittenPart } from '../../../ports/inference/inference.ts'
import { MessagesUsage } from '../messages/messages-usage.ts'
import { INVALID } from '../native-events.ts'
import type { WholeParts, WholeRead } from '../protocol.ts'
import { OpenBlock } from './message-block.ts'
import { messageEventOf, type MessageDelta, type MessageEvent } from './message-event.ts'
import { NO_ANSWER, NOTHING_SECRET, parsed, PartEvents } from './part-events.ts'

/** Words for an end; every other word is a stop. */
const REASONS: ReadonlyMap<string, FinishReason> = new Map([
  ['max_tokens', 'length'],
  ['model_context_window_exceeded', 'length'],
  ['tool_use', 'tool_calls'],
  ['refusal', 'content_filter'],
])
const STOP_SEQUENCE = 'stop_sequence'

/** The stream of a provider that speaks messages, for callers of other dialects. D22. */
export class MessagesParts extends PartEvents {
  readonly #usage = new MessagesUsage()
  #open: OpenBlock | null = null
  /** An event of the message has come. */
  #hasBegun = false
  #hasCalls = false
  #stopSequence: string | null = null

  get usage(): TokenUsage | null {
    return this.#usage.tokens
  }

  protected override take(members: Members, name: string): Failure | 'failed' | null {
    const { type: told } = members
    const type = typeof told === 'string' && told !== '' ? told : name
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
        this.#close()
        return null
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

  /** Some servers leave out that a block ended. */
  #begin({ content_block: block, index }: MessageEvent): Failure | null {
    this.#close()
    this.#hasBegun = true
    if (block === null || block === undefined) return INVALID
    const isCall = block.type === 'tool_use'
    if (isCall && ((block.id ?? '') === '' || (block.name ?? '') === '')) return INVALID
    this.#hasCalls ||= isCall
    this.#open = new OpenBlock(block, index ?? 0)
    this.#write(this.#open.begin())
    return null
  }

  #add({ delta, index }: MessageEvent): Failure | null {
    const open = this.#open
    if (open === null || (index ?? open.index) !== open.index) return INVALID
    this.#write(open.add(delta ?? {}))
    return null
  }

  #close(): void {
    const open = this.#open
    this.#open = null
    if (open !== null) this.#write(open.end())
  }

  #tell({ stop_reason: reason, stop_sequence: sequence }: MessageDelta, usage: unknown): void {
    this.#hasBegun = true
    this.finishReason = reason ?? this.finishReason
    this.#stopSequence = sequence ?? this.#stopSequence
    this.#usage.toldWith(objectOf(usage))
    this.report(membersOf(usage))
  }

  /** The end of a message that has not begun is that of another stream. */
  #stop(): Failure | null {
    if (!this.#hasBegun) return INVALID
    this.#close()
    this.isDone = true
    const native = this.finishReason ?? (this.#hasCalls ? 'tool_use' : 'end_turn')
    const reason = REASONS.get(native) ?? 'stop'
    const stopSequence = native === STOP_SEQUENCE ? this.#stopSequence : null
    this.write({ kind: 'finish', choice: 0, reason, native, stopSequence })
    return null
  }

  #write(parts: readonly WrittenPart[]): void {
    for (const part of parts) this.write(part)
  }
}

/** Failures: also upstream_invalid for an error, and for what is no message. D14. */
export function messageWhole(body: Buffer): WholeRead<WholeParts> {
  const message = parsed(body)
  if (message === null || (message['type'] ?? 'message') !== 'message') return NO_ANSWER
  const { content, stop_reason, stop_sequence, usage, error, ...head } = message
  if (!Array.isArray(content) || (error ?? null) !== null) return NO_ANSWER
  const blocks = content.flatMap((content_block: unknown, index) => [
    { type: 'content_block_start', index, content_block },
    { type: 'content_block_stop', index },
  ])
  return new MessagesParts(NOTHING_SECRET).whole([
    { type: 'message_start', message: head },
    ...blocks,
    { type: 'message_delta', delta: { stop_reason, stop_sequence }, ...(isObject(usage) && { usage }) },
    { type: 'message_stop' },
  ])
}
