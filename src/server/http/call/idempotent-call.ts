import { createHash, webcrypto } from 'node:crypto'
import { fail, ok, type Outcome } from '../../../schemas/failures.ts'
import { readIdempotency, REPLAYED, type Repeatable } from '../../../schemas/idempotency.ts'
import { INLINE_JSON_BYTES_MAX } from '../../../schemas/limits/limits.ts'
import type { AnyOperation, Call, Success } from '../../operations/define.ts'
import type { Idempotency, IdempotencyClaim, ClaimOrAnswer } from '../../ports/idempotency.ts'
import type { RequestHead } from './head.ts'

const NOTHING_SHA256 = createHash('sha256').digest('hex')

/** A call with an `Idempotency-Key` whose operation stores its answers: the first call, or a repetition. */
export class IdempotentCall {
  readonly #port: Idempotency
  readonly #begun: ClaimOrAnswer
  #bodySha256 = NOTHING_SHA256
  /** True when the claim has ended, or the operation will end it. */
  #isOver: boolean

  private constructor(port: Idempotency, begun: ClaimOrAnswer) {
    this.#port = port
    this.#begun = begun
    this.#isOver = begun.kind === 'replay'
  }

  /** Failures: those of `Idempotency.begin`. */
  static async begin(
    port: Idempotency,
    idempotency: Repeatable,
    { key, signal }: Pick<Call, 'key' | 'signal'>,
  ): Promise<Outcome<IdempotentCall>> {
    const begun = await port.begin({ idempotency, holder: key.workspaceId ?? key.organizationId, signal })
    return begun.ok ? ok(new IdempotentCall(port, begun.value)) : begun
  }

  /** Null for a repetition. */
  get claim(): IdempotencyClaim | null {
    return this.#begun.kind === 'first' ? this.#begun.claim : null
  }

  /** Lower-case hex; the digest of no bytes until the body was taken. */
  get bodySha256(): string {
    return this.#bodySha256
  }

  /** Called once, with the whole body; never without a body. */
  takeBody(bytes: Uint8Array): void | Promise<void> {
    if (bytes.length <= INLINE_JSON_BYTES_MAX) {
      this.#bodySha256 = createHash('sha256').update(bytes).digest('hex')
      return
    }
    return webcrypto.subtle.digest('SHA-256', bytes as Uint8Array<ArrayBuffer>).then((digest) => {
      this.#bodySha256 = Buffer.from(digest).toString('hex')
    })
  }

  /** `idempotency_mismatch` for a repetition whose body differs from the first call's. */
  checkBody(): Outcome<null> {
    if (this.#begun.kind === 'first' || this.#begun.answer.bodySha256 === this.#bodySha256) return ok(null)
    return fail('idempotency_mismatch')
  }

  /** Runs the operation and stores its answer, or repeats the first answer. A failure is not stored. */
  async run(operation: () => Promise<Outcome<Success>> | Outcome<Success>): Promise<Outcome<Success>> {
    if (this.#begun.kind === 'replay') {
      return ok({
        kind: 'bytes',
        parts: [Buffer.from(this.#begun.answer.json)],
        contentType: 'application/json',
        ...REPLAYED,
      })
    }
    const { claim } = this.#begun
    this.#isOver = true
    let isKept = false
    try {
      const outcome = await operation()
      if (outcome.ok) {
        if (outcome.value.kind !== 'json') throw new Error('only JSON answers can be kept')
        await this.#port.remember(claim, {
          bodySha256: this.#bodySha256,
          json: JSON.stringify(outcome.value.value),
        })
        isKept = true
      }
      return outcome
    } finally {
      if (!isKept) await this.#port.forget(claim)
    }
  }

  /** Called when the call ended before its operation began. @returns null when there is nothing to release */
  drop(): Promise<void> | null {
    if (this.#isOver || this.#begun.kind === 'replay') return null
    this.#isOver = true
    return this.#port.forget(this.#begun.claim)
  }
}

/** The facts, apart from its body, that a repetition must have in common with this call; null without the header. Failure: header_invalid. */
export function repeatableOf(
  { method, path, idempotent }: AnyOperation,
  { key, params, query }: Pick<Call, 'key' | 'params' | 'query'>,
  head: Pick<RequestHead, 'kept'>,
): Outcome<Repeatable | null> {
  const header = head.kept('idempotency-key')
  if (idempotent === 'refused') return header === undefined ? ok(null) : KEY_REFUSED
  return readIdempotency({
    header,
    apiKeyHash: key.hash,
    request: [method.toUpperCase(), path, sorted(params), sorted(query)],
  })
}

const KEY_REFUSED = fail('header_invalid', {
  metadata: {
    issues: [
      {
        path: '/idempotency-key',
        message: 'is not supported by this operation',
        expected: 'no `Idempotency-Key`: the new key is shown only once, so its answer cannot be repeated',
      },
    ],
  },
})

/** Inputs from a URL as a text that does not depend on their order. */
function sorted(inputs: unknown): string {
  return JSON.stringify(Object.entries(inputs ?? {}).sort(([one], [other]) => (one < other ? -1 : 1)))
}
