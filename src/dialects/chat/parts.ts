import { ok, type Failure, type Outcome } from '../../schemas/failures.ts'
import { isObject, membersOf, type Members } from '../../schemas/values/members.ts'
import { chatTokensOf } from './usage.ts'
import { INVALID } from '../native-events.ts'
import { thinksIn } from '../../server/upstream/inference/walk/output.ts'
import { ChatCalls } from '../../server/upstream/inference/parts/chat-calls.ts'
import {
  chatEventOf,
  type CallFragment,
  type ChatChoice,
  type Said,
} from '../../server/upstream/inference/parts/chat-event.ts'
import { saidIn } from '../../server/upstream/inference/parts/chat-said.ts'
import { NO_ANSWER, CLEANED_LATER, parsed, PartEvents } from '../part-events.ts'
import { PartQueue } from '../part-queue.ts'
import type { FinishReason, TokenUsage, WrittenPart, WholeParts, WholeRead } from '../parts.ts'

type Finish = Extract<WrittenPart, { readonly kind: 'finish' }>

/** Words for an end; every other word is a stop. */
const REASONS: ReadonlyMap<string, FinishReason> = new Map([
  ['length', 'length'],
  ['max_tokens', 'length'],
  ['model_length', 'length'],
  ['content_filter', 'content_filter'],
  ['tool_calls', 'tool_calls'],
  ['function_call', 'tool_calls'],
])

/** The stream of a provider that speaks chat, for callers of other dialects, who ask for one choice. D22. */
export class ChatParts extends PartEvents {
  readonly #queue = new PartQueue({ write: (part) => this.write(part), answerId: () => this.upstreamId })
  readonly #calls = new ChatCalls(this.#queue)
  /** The choice has begun. */
  #index: number | null = null
  /** The last that came: some servers write one in each chunk. Null: the choice has not ended. */
  #finish: Finish | null = null
  /** What waited for the end was written; null: it has not come. */
  #ended: Outcome<null> | null = null
  #usage: TokenUsage | null = null

  override get heldBytes(): number {
    return super.heldBytes + this.#queue.heldBytes
  }

  /** As the provider told it last; null: missing, no counts, or no output where there was some. D24. */
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

  /** The mark of the end is missing in many streams. */
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
    // One was asked for.
    if (index !== this.#index) return INVALID
    this.#tell((choice as Members)['usage'])
    const failure = delta === null || delta === undefined ? null : this.#said(delta)
    if (failure !== null) return failure
    if ((finish ?? '') !== '') this.#finished(choice, finish ?? '')
    return null
  }

  #said(delta: NonNullable<ChatChoice['delta']>): Failure | null {
    for (const name of ['reasoning', 'reasoning_content'] as const)
      if (typeof delta[name] === 'string' && delta[name] !== '') this.thinksIn = thinksIn(this.thinksIn, name)
    const said = saidIn(delta)
    const calls = callsIn(delta)
    for (const one of said) {
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
      // Servers that were given the tool to call stop with the same word as after a text.
      const isCall = finish.reason === 'stop' && this.#queue.calls > 0
      if (failure === null) this.write(isCall ? { ...finish, reason: 'tool_calls' } : finish)
    }
    return this.#ended.ok ? null : this.#ended.failure
  }

  #tell(usage: unknown): void {
    if (isObject(usage)) this.#usage = chatTokensOf(usage, false)
  }
}

/** The call of the form that tools replaced has neither id nor index; servers that write both mean one call. */
function callsIn({ tool_calls: calls, function_call: call }: Said): readonly CallFragment[] {
  if (calls !== null && calls !== undefined && calls.length > 0) return calls
  return call === null || call === undefined ? [] : [{ index: 0, function: call }]
}

/** Failures: also upstream_invalid for an error without a choice that ended so, and without choices. D14. */
export function chatWhole(body: Buffer): WholeRead<WholeParts> {
  const { choices, ...head } = parsed(body) ?? {}
  if (!Array.isArray(choices) || !choices.every((choice) => isObject(membersOf(choice)['message'])))
    return NO_ANSWER
  const said = choices.map((choice) => {
    const { message, finish_reason: finish, ...more } = membersOf(choice)
    // A whole answer has come to its end, whether it says so or not.
    return { ...more, delta: message, finish_reason: (finish ?? '') === '' ? 'stop' : finish }
  })
  return new ChatParts(CLEANED_LATER).whole([{ ...head, choices: said }])
}
