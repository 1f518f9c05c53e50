/** A front in front of a provider that keeps the bytes of each request. */
import { AUTHORIZATION } from '../../../support/front.ts'
import type { ChatProviderOptions } from '../../../support/inference/chat-provider-front.ts'
import type { FakeAnswer } from '../../../support/inference/fake-provider.ts'
import { openStand } from '../streams/stream-stand.ts'
import type { FaithfulDialect } from './faithful-dialect.ts'
import { membersOf } from './raw-members.ts'

/** The model of the provider alone, by its own name and by the provider's. */
export const MODEL = 'acme/one'
export const UPSTREAM_MODEL = 'first-model'
/** The member that distinguishes requests. */
export const CASE = 'x_case'

export interface Passed {
  readonly status: number
  /** Members that were named as dropped. */
  readonly dropped: readonly string[]
  /** What the provider got, with a character for each byte; null: nothing. */
  readonly got: string | null
  /** What the caller got, of a refusal. */
  readonly refusal: string
}

export interface FaithfulStand {
  /** @param body with a character for each byte, and the member CASE */
  pass(body: string): Promise<Passed>
  close(): Promise<void>
}

export async function openFaithful(
  { path }: FaithfulDialect,
  answers: FakeAnswer,
  options: ChatProviderOptions = {},
): Promise<FaithfulStand> {
  const stand = await openStand(options)
  const got = new Map<string, string>()
  stand.first.usually((call, reply) => {
    const body = call.body.toString('latin1')
    got.set(caseOf(body), body)
    return answers(call, reply)
  })
  return {
    async pass(body) {
      const response = await fetch(`${stand.url}/api/v1${path}`, {
        method: 'POST',
        headers: { authorization: AUTHORIZATION, 'content-type': 'application/json' },
        body: Buffer.from(body, 'latin1'),
      })
      const text = await response.text()
      const { status, headers } = response
      const id = caseOf(body)
      const own = got.get(id) ?? null
      got.delete(id)
      const dropped = headers.get('x-sluice-dropped')?.split(',') ?? []
      return { status, dropped, got: own, refusal: status === 200 ? '' : text.slice(0, REFUSAL_CHARS_MAX) }
    },
    close: () => stand.close(),
  }
}

const REFUSAL_CHARS_MAX = 300

function caseOf(body: string): string {
  return membersOf(body).find(({ name }) => name === CASE)?.value ?? ''
}
