import { setTimeout as delay } from 'node:timers/promises'
import type { ChatInput } from '../../../schemas/inference/chat-input.ts'
import { fail, ok, type Outcome } from '../../../schemas/failures.ts'
import { ECHO_SLOW_MS } from '../../../schemas/inference/inference-limits.ts'
import { costNano } from '../../../schemas/money/costs.ts'
import { endedBy } from '../../../schemas/values/call-ended.ts'
import type {
  InferenceEnd,
  InferenceJob,
  InferenceSink,
  WrittenPart,
} from '../../ports/inference/inference.ts'
import type { Endpoint } from '../../ports/models/models.ts'
import type { ShortJobs, ShortJobTypes } from '../../ports/short-jobs.ts'
import type { LoopTurns } from '../../structures/loop-turns.ts'

type Echoed = ShortJobTypes['echo']['out']

/** Parts that are passed on at once. */
const TURN_PARTS = 32
/** Upstream name of the model that writes 20 words a second. */
const SLOW = 'echo-1-slow'

export interface EchoDeps {
  readonly jobs: ShortJobs
  /** The turns in which the streams of all callers go on. */
  readonly turns: LoopTurns
}

export function isEcho({ provider, upstreamModel }: Endpoint): boolean {
  return provider.protocol === 'local' && (upstreamModel === 'echo-1' || upstreamModel === SLOW)
}

/**
 * `sluice/echo-1` answers with the last text of the user, word by word; `echo-1-slow` writes 20 words a
 * second. It needs no key and no network, and is no language model. D35.
 * Failures: body_invalid, client_gone, draining, and those of the pool of short jobs.
 */
export async function echo(
  { request, caller, call, endpoint }: InferenceJob & { readonly endpoint: Endpoint },
  { jobs, turns }: EchoDeps,
  sink: InferenceSink,
): Promise<Outcome<InferenceEnd>> {
  const startedAt = performance.now()
  const read = inputOf(request)
  if (!read.ok) return read
  const echoed = await jobs.run('echo', read.value, { caller, signal: call.signal })
  if (!echoed.ok) return echoed
  const parts = partsOf(echoed.value, request)
  const isSlow = endpoint.upstreamModel === SLOW
  const step = isSlow ? request.choices : TURN_PARTS
  const by = {
    provider: endpoint.provider.slug,
    isByok: false,
    isUnpriced: endpoint.isUnpriced,
    attempts: 1,
  }
  const delivered = { output: 0, reasoning: 0 }
  let hasBegun = false
  let isWhole = false
  while (!isWhole && !call.signal.aborted) {
    await turns.next(caller.organizationId)
    const some = take(parts, step)
    isWhole = some.length < step
    if (!hasBegun && some.length > 0) sink.begin(by)
    hasBegun ||= some.length > 0
    for (const { kind } of some) {
      if (kind === 'text' || kind === 'arguments') delivered.output++
      else if (kind === 'reasoning') delivered.reasoning++
    }
    if (some.length > 0 && !sink.take(some)) await sink.room()
    // The loop sees a signal that ends the wait.
    if (!isWhole && isSlow) await delay(ECHO_SLOW_MS, null, call).catch(() => null)
  }
  if (!hasBegun) return { ok: false, failure: endedBy(call.signal) }
  return ok({
    failure: isWhole ? null : endedBy(call.signal),
    usage: { input: request.promptWords, cacheRead: 0, cacheWrite: 0, ...delivered },
    isEstimated: !isWhole,
    costNano: costNano(request.promptWords, endpoint),
    ...by,
    upstreamMs: performance.now() - startedAt,
  })
}

/** Failure: body_invalid, for an answer in a form that the model does not have. */
function inputOf(request: ChatInput): Outcome<ShortJobTypes['echo']['in']> {
  const { form, tool, hasTool, last, isLastCut, stops, tokensMax, isReasoning, choices } = request
  if (form !== 'text') return refused('/response_format/type', 'is not a form of this model', 'text')
  if (tool !== null && !hasTool)
    return refused('/tool_choice', 'names no tool of the request', 'a tool of the list `tools`')
  return ok({ last, isLastCut, stops, tokensMax, isReasoning, isCall: tool !== null, choices })
}

/** The parts of all choices, in turns as a provider would write them. */
function* partsOf(
  { reasoning, pieces, finish }: Echoed,
  { choices, tool }: ChatInput,
): Generator<WrittenPart> {
  const all = Array.from({ length: choices }, (_, choice) => choice)
  for (const text of reasoning) for (const choice of all) yield { kind: 'reasoning', choice, text }
  if (tool !== null && pieces.length > 0)
    for (const choice of all) yield { kind: 'tool', choice, id: `call_${choice}`, name: tool }
  const kind = tool === null ? 'text' : 'arguments'
  for (const text of pieces) for (const choice of all) yield { kind, choice, text }
  for (const choice of all) yield { kind: 'finish', choice, reason: finish }
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
