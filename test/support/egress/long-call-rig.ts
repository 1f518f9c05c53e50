/** Long calls through the gate to a provider that follows a script. */
import type { Test } from 'tap'
import type { Outcome } from '../../../src/schemas/failures.ts'
import { openEgress, type EgressOptions } from '../../../src/server/egress/egress.ts'
import type {
  EgressExchange,
  EgressExchangeRequest,
  TrustedOrigin,
} from '../../../src/server/ports/egress/egress.ts'
import { answersChat } from '../inference/fake-chat.ts'
import { startFakeProvider, type FakeAnswer, type FakeProvider } from '../inference/fake-provider.ts'
import { until } from '../wait.ts'
import { exchangeRequest } from './vetted-stand.ts'

const BODY = JSON.stringify({ model: 'm', stream: true, messages: [{ role: 'user', content: 'hi' }] })

export interface LongCallRig {
  readonly provider: FakeProvider
  readonly egress: ReturnType<typeof openEgress>
  readonly origin: TrustedOrigin
  /** A streamed chat, or what `more` makes of it. */
  exchange(more?: Partial<EgressExchangeRequest>): Promise<Outcome<EgressExchange>>
  /** Resolves when undici is done with everything. */
  rest(): Promise<void>
}

export async function openLongCalls(
  t: Test,
  options: EgressOptions = {},
  usual: FakeAnswer = answersChat(),
): Promise<LongCallRig> {
  const provider = await startFakeProvider(usual)
  const egress = openEgress(options)
  t.teardown(async () => {
    await egress.close()
    await provider.close()
  })
  const origin = egress.trusted(provider.origin)
  return {
    provider,
    egress,
    origin,
    exchange: (more) => origin.exchange(chatRequest(more)),
    rest: () => until(() => egress.load.calls === 0),
  }
}

export function chatRequest(more: Partial<EgressExchangeRequest> = {}): EgressExchangeRequest {
  return exchangeRequest({ method: 'POST', path: '/v1/chat/completions', body: BODY, ...more })
}
