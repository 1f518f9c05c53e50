import { setTimeout as delay } from 'node:timers/promises'
import type { Dialect, TextInput, TextRequest } from '../../../schemas/inference/text-request.ts'
import { fail, ok, type Outcome } from '../../../schemas/failures.ts'
import { MORE } from '../../../dialects/prompt/others.ts'
import { isReadByEcho } from '../../../dialects/echo-members.ts'
import { JSON_SCHEMA } from '../../../dialects/form-fit.ts'
import { ECHO_SLOW_MS } from '../../../schemas/inference/inference-limits.ts'
import { endedBy } from '../../../schemas/values/call-ended.ts'
import type { CountedPrompt, CountJob } from '../../ports/inference/inference.ts'
import type { Endpoint } from '../../ports/models/models.ts'
import type { ShortJobs, ShortJobTypes } from '../../ports/short-jobs.ts'
import { LocalCalls } from '../local-calls.ts'
import { movable } from '../movable.ts'
import type { WritingAttempt, WritingProtocol, Written } from './protocol.ts'
import { ECHO_SLOW } from './spoken.ts'
import type { WrittenPart } from '../../../dialects/parts.ts'
import { NOTHING_REPORTED } from '../../../dialects/usage.ts'
import { unsentBetas } from '../../../dialects/messages/native-request.ts'
import { FairSemaphore } from '../../structures/fair-semaphore.ts'

/** Bytes of a body in which echo-1 searches for members that it ignores. Decision: less than a millisecond. */
export const ECHO_SEARCHED_BYTES_MAX = 262_144
/** Calls of `sluice/echo-1` that run at once in one front. Decision. */
export const ECHO_CALLS_MAX = 1_024
/** Calls of `sluice/echo-1` by one organization that run at once in one front. Decision. */
export const ECHO_ORGANIZATION_CALLS_MAX = 256
/**
 * Batches of words, of all calls of `sluice/echo-1` together, that one turn of the loop writes. Decision.
 */
export const ECHO_TURN_BATCHES_MAX = 4

type Echoed = ShortJobTypes['echo']['out']

/** Parts that are passed on at once. */
const TURN_PARTS = 32

/** State that the endpoints of the model share in a front. */
export class EchoHouse {
  readonly jobs: ShortJobs
  readonly calls = new LocalCalls({ max: ECHO_CALLS_MAX, ofOneMax: ECHO_ORGANIZATION_CALLS_MAX })
  /** The turns of the loop that the streams of all callers share. */
  readonly turns = new LoopTurns(ECHO_TURN_BATCHES_MAX)

  constructor(jobs: ShortJobs) {
    this.jobs = jobs
  }
}

/**
 * `sluice/echo-1` answers with the last text of the user, word by word; `echo-1-slow` writes 20 words a
 * second. It needs no key and no network, and is not a language model.
 * Failures: busy, body_invalid, client_gone, draining, and those of the pool of short jobs.
 */
export class Echo implements WritingProtocol {
  readonly #isSlow: boolean
  readonly #house: EchoHouse

  constructor({ upstreamModel }: Endpoint, house: EchoHouse) {
    this.#isSlow = upstreamModel === ECHO_SLOW
    this.#house = house
  }

  write(attempt: WritingAttempt): Promise<Outcome<Written>> {
    const end = this.#house.calls.begin(attempt.job.caller.organizationId)
    return end === null
      ? Promise.resolve(fail('busy', { retryAfterS: 1 }))
      : this.#answer(attempt).finally(end)
  }

  /** Counts each word as a token. */
  count({ request }: CountJob): Promise<Outcome<CountedPrompt>> {
    const json = JSON.stringify({ input_tokens: request.promptWords })
    return Promise.resolve(ok({ json: new TextEncoder().encode(json), dropped: [] }))
  }

  async #answer(attempt: WritingAttempt): Promise<Outcome<Written>> {
    const { request, caller, call } = attempt.job
    const read = inputOf(request)
    if (!read.ok) return read
    const { unread } = read.value
    const transfer = unread === null ? [] : movable(unread.body)
    const echoed = await this.#house.jobs.run('echo', read.value, { caller, signal: call.signal, transfer })
    if (!echoed.ok) return echoed
    const dropped = [
      ...echoed.value.dropped,
      ...unreadNames(request),
      ...unsentBetas(attempt.job.passedHeaders),
    ]
    const parts = partsOf(echoed.value, request)
    const { isWhole, hasBegun, pausedMs, delivered } = await this.#deliver(parts, dropped, attempt)
    if (!hasBegun) return { ok: false, failure: endedBy(call.signal) }
    return ok({
      failure: isWhole ? null : endedBy(call.signal),
      reportedUsage: { input: request.promptWords, cacheRead: 0, cacheWrite: 0, ...delivered },
      isExact: true,
      outputBytes: 0,
      answer: null,
      finalEvents: null,
      dropped,
      upstreamId: null,
      reported: NOTHING_REPORTED,
      finishReason: isWhole ? echoed.value.finish : null,
      pausedMs,
      isDrained: false,
    })
  }

  async #deliver(
    parts: Iterator<WrittenPart>,
    dropped: readonly string[],
    attempt: WritingAttempt,
  ): Promise<Delivered> {
    const { job, sink } = attempt
    const { request, caller, call } = job
    const step = this.#isSlow ? request.choices : TURN_PARTS
    const delivered = { output: 0, reasoning: 0 }
    let pausedMs = 0
    const seen = {
      get usage() {
        return { input: request.promptWords, cacheRead: 0, cacheWrite: 0, ...delivered }
      },
      isExact: true,
      outputBytes: 0,
      upstreamId: null,
      reported: NOTHING_REPORTED,
    }
    let [hasBegun, isWhole] = [false, false]
    while (!isWhole && !call.signal.aborted) {
      await this.#house.turns.next(caller.organizationId)
      const some = take(parts, step)
      isWhole = some.length < step
      if (!hasBegun && some.length > 0) attempt.begin(dropped, seen)
      hasBegun ||= some.length > 0
      for (const { kind } of some) {
        if (kind === 'text' || kind === 'arguments') delivered.output++
        else if (kind === 'reasoning') delivered.reasoning++
      }
      if (some.length > 0 && !sink.take(some)) {
        const pausedAt = performance.now()
        await sink.room()
        pausedMs += performance.now() - pausedAt
      }
      // The loop checks the signal that ends the wait.
      if (!isWhole && this.#isSlow) await delay(ECHO_SLOW_MS, null, call).catch(() => null)
    }
    return { isWhole, hasBegun, pausedMs, delivered }
  }
}

interface Delivered {
  readonly isWhole: boolean
  readonly hasBegun: boolean
  /** Milliseconds during which the caller did not read. */
  readonly pausedMs: number
  readonly delivered: { readonly output: number; readonly reasoning: number }
}

const FORM_PATHS: Readonly<Record<Dialect, { readonly form: string; readonly schema: string }>> = {
  chat: { form: '/response_format', schema: '/response_format/json_schema/schema' },
  responses: { form: '/text/format', schema: '/text/format/schema' },
  messages: { form: '/output_config/format', schema: '/output_config/format/schema' },
}

/** Failure: body_invalid, for an answer in a form that the model does not have. */
function inputOf(request: TextRequest): Outcome<ShortJobTypes['echo']['in']> {
  const { tool, hasTool, last, isLastCut, stops, size, isReasoning, choices } = request
  const { tokensMax } = size
  if (!request.isFormMet) return formRefused(request)
  if (tool !== null && !hasTool)
    return refused('/tool_choice', 'does not name a tool of the request', 'the name of a tool in `tools`')
  const isJson = request.form === JSON_SCHEMA
  const isCall = tool !== null
  const unread = unreadOf(request)
  return ok({ last, isLastCut, stops, tokensMax, isReasoning, isCall, isJson, choices, unread })
}

/** Null for most requests: they have no other member, so their bytes need not go to the thread. */
function unreadOf({ dialect, source }: TextRequest): ShortJobTypes['echo']['in']['unread'] {
  const isRead =
    source.count === source.members.length && source.members.every(({ name }) => isReadByEcho(dialect, name))
  if (isRead || source.bytes.length > ECHO_SEARCHED_BYTES_MAX) return null
  // A copy, since the bytes are moved to the thread.
  return { dialect, body: Uint8Array.from(source.bytes) }
}

/** Names the known members of a body that is too large to be searched, and `*` for all others. */
function unreadNames({ dialect, source }: TextRequest): readonly string[] {
  if (source.bytes.length <= ECHO_SEARCHED_BYTES_MAX) return []
  const names = source.members.flatMap(({ name }) => (isReadByEcho(dialect, name) ? [] : name))
  return source.count === source.members.length ? names : [...names, MORE]
}

function formRefused({ dialect, form }: TextInput): Outcome<never> {
  const paths = FORM_PATHS[dialect]
  return form === JSON_SCHEMA
    ? refused(
        paths.schema,
        'does not allow `{"text": …}`',
        'a schema that allows `{"text": "<the last text>"}`',
      )
    : refused(`${paths.form}/type`, 'is not supported by this model', '`text` or `json_schema`')
}

/** The parts of all choices, alternating as a provider would write them. */
function* partsOf(
  { reasoning, pieces, finish }: Echoed,
  { choices, tool }: TextInput,
): Generator<WrittenPart> {
  const all = Array.from({ length: choices }, (_, choice) => choice)
  for (const text of reasoning) for (const choice of all) yield { kind: 'reasoning', choice, text }
  if (tool !== null && pieces.length > 0)
    for (const choice of all) yield { kind: 'tool', choice, id: `call_${choice}`, name: tool }
  const kind = tool === null ? 'text' : 'arguments'
  for (const text of pieces) for (const choice of all) yield { kind, choice, text }
  for (const choice of all)
    yield { kind: 'finish', choice, reason: finish, native: finish, stopSequence: null }
}

function take(parts: Iterator<WrittenPart>, most: number): readonly WrittenPart[] {
  const some: WrittenPart[] = []
  while (some.length < most) {
    const next = parts.next()
    if (next.done === true) break
    some.push(next.value)
  }
  return some
}

function refused(path: string, message: string, expected: string): Outcome<never> {
  return fail('body_invalid', { metadata: { issues: [{ path, message, expected }] } })
}

/**
 * Runs a few short tasks in each turn of the loop, alternating between tenants: a thousand of them in one turn would
 * delay all other work.
 */
export class LoopTurns {
  readonly #places: FairSemaphore

  /** @param places tasks in one turn of the loop */
  constructor(places: number) {
    this.#places = new FairSemaphore({ places })
  }

  /** Resolves when the tenant's next task may run. */
  async next(tenant: string): Promise<void> {
    const leave = await this.#places.enter({ tenant })
    if (leave !== null) setImmediate(leave)
  }
}
