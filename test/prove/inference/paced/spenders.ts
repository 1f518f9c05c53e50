/** Callers of streams of random length who spend all the money; some leave in between. */
import { pause } from '../../../support/nodes/spawned.ts'
import { startCall, type CallersInput, type PacedCall } from './callers.ts'
import { drawDialect } from './dialects.ts'
import type { Asked } from './provider.ts'

export interface SpendersInput extends CallersInput {
  readonly key: string
  /** Callers at once. */
  readonly callers: number
  /** Begins the ids of their calls. */
  readonly name: string
  /** A whole number from 0 to below `below`. */
  readonly random: (below: number) => number
}

/** Of every call, which has to end by itself. */
const WORDS_MAX = 40
const TOKENS_MAX = 60
/** Of so many calls one is left, within so many milliseconds. */
const LEAVING_EACH = 4
const LEAVING_MS_MAX = 250
/** Of so many calls one has a provider that lies. */
const LYING_EACH = 2
const LIES = ['missing', 'zero', 'negative', 'huge'] as const
/** Refusals in a row after which a caller takes the money for spent. */
const REFUSALS_MAX = 3
const REST_MS = 20

/** @returns all calls, when each caller was refused again and again */
export async function spendStreams(input: SpendersInput): Promise<readonly PacedCall[]> {
  const { name, callers, random } = input
  const calls: PacedCall[] = []
  const spend = async (): Promise<void> => {
    for (let refused = 0; refused < REFUSALS_MAX;) {
      const id = `${name}-${calls.length}`
      const lie = random(LYING_EACH) === 0 ? LIES[random(LIES.length)] : undefined
      const asked: Asked = {
        id,
        words: random(WORDS_MAX + 1),
        ...(lie === undefined ? null : { usage: lie }),
      }
      const asking = { dialect: drawDialect(random), asked, tokensMax: TOKENS_MAX }
      const call = startCall(input, { key: input.key, ...asking })
      calls.push(call)
      const leaving = random(LEAVING_EACH) === 0 ? setTimeout(call.leave, random(LEAVING_MS_MAX)) : undefined
      await call.over
      clearTimeout(leaving)
      const isRefused = call.status === 402 || call.status === 403
      refused = isRefused ? refused + 1 : 0
      if (call.status !== 200) await pause(REST_MS)
    }
  }
  await Promise.all(Array.from({ length: callers }, spend))
  return calls
}
