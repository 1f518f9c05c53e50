/** The gate's trusted calls to a scripted provider. */
import type { Test } from 'tap'
import type { Outcome } from '../../../src/schemas/failures.ts'
import { openEgress } from '../../../src/server/egress/egress.ts'
import type { EgressAnswer, EgressRequest } from '../../../src/server/ports/egress/egress.ts'
import { scanMemory } from '../../../src/workers/scan-memory.ts'
import { startProvider, type ScriptedProvider } from '../embeddings/provider.ts'

const BODY = JSON.stringify({ model: 'm', input: 'one two' })

export interface EgressRig {
  readonly provider: ScriptedProvider
  readonly egress: ReturnType<typeof openEgress>
  call(more?: Partial<EgressRequest>): Promise<Outcome<EgressAnswer>>
  /** Waits until the client is done with everything, and says what is still held. */
  rest(): Promise<{ heldBytes: number; calls: number }>
}

/** @param isLean false: undici makes the calls */
export async function rigged(test: Test, answersBytesMax?: number, isLean = true): Promise<EgressRig> {
  const provider = await startProvider()
  const options = { isLean, isPoisoned: true, readMemory: scanMemory() }
  const egress = openEgress(answersBytesMax === undefined ? options : { ...options, answersBytesMax })
  test.teardown(async () => {
    await egress.close()
    await provider.close()
  })
  return {
    provider,
    egress,
    call: (more) => egress.trusted(provider.origin).call(request(more)),
    rest: async () => {
      while (egress.load.calls > 0) await new Promise((next) => setImmediate(next))
      return egress.load
    },
  }
}

export function request(more: Partial<EgressRequest> = {}): EgressRequest {
  return {
    method: 'POST',
    path: '/v1/embeddings',
    headers: ['content-type', 'application/json'],
    body: BODY,
    attemptEndsAt: performance.now() + 2 ** 30,
    call: { signal: new AbortController().signal },
    mayCutSent: false,
    mayRepeat: true,
    answerBytesMax: 1024 * 1024,
    ...more,
  }
}

export function nameOf(outcome: Outcome<EgressAnswer>): string {
  return outcome.ok ? `answer ${outcome.value.status}` : outcome.failure.name
}

export function released(answer: Outcome<EgressAnswer>): void {
  if (!answer.ok) throw new Error(answer.failure.name)
  answer.value.release()
}
