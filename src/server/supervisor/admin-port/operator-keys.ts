import { hashOfKey, isKeyShaped } from '../../../schemas/keys/api-keys.ts'
import {
  ADMIN_KEY_CHECK_MS_MAX,
  ADMIN_KEY_MS_MAX,
  ADMIN_KEYS_MAX,
} from '../../../schemas/operator/admin-port-limits.ts'
import { API_PREFIX } from '../../../schemas/api-prefix.ts'
import { FAILURES } from '../../../schemas/failures.ts'
import { missingKeyHint, NO_CREDENTIALS, unknownKeyHint } from '../../../schemas/keys/credential-hints.ts'
import { failed, type Answer } from './answers.ts'
import type { PublicPort, SmallAnswer } from './public-port.ts'

/** The result of a key check with the response for a call that may not pass. `undecided`: no front could decide. */
export type KeyCheck =
  { readonly kind: 'operator' } | { readonly kind: 'refused' | 'undecided'; readonly answer: Answer }

const OPERATOR: KeyCheck = { kind: 'operator' }
/** Path at which a front reports whether a key belongs to an operator. */
const SESSION = `${API_PREFIX}/admin/session`
const OK = 200
/** Statuses by which a front refuses keys; fronts use them for other refusals too. */
export const KEY_REFUSALS: readonly number[] = [
  ...FAILURES.key_unknown.status,
  ...FAILURES.key_disabled.status,
]
/** Characters of a header that can be valid: scheme, some spaces, the longest key. */
const HEADER_CHARS_MAX = 256
/** The header's scheme with a key. */
const BEARER = /^Bearer +(\S+) *$/i
/** Headers of a front's refusal that are passed on. */
const KEPT_HEADERS = ['content-type', 'www-authenticate', 'retry-after', 'x-request-id'] as const

/**
 * Distinguishes keys of operators from all others by a call to a front: the supervisor itself knows no keys.
 * Only a positive result is remembered, for a short time.
 */
export class OperatorKeys {
  readonly #port: Pick<PublicPort, 'read'>
  readonly #now: () => number
  /** Milliseconds at which a key was last confirmed as an operator's, by the key's hash; oldest first. */
  readonly #known = new Map<string, number>()
  readonly #asking = new Map<string, Promise<KeyCheck>>()

  /** @param now monotonic milliseconds */
  constructor(port: Pick<PublicPort, 'read'>, now: () => number = () => performance.now()) {
    this.#port = port
    this.#now = now
  }

  /** @param authorization text of the header @param msMax largest age of a remembered result */
  async check(authorization: string | undefined, msMax = ADMIN_KEY_MS_MAX): Promise<KeyCheck> {
    const key = keyIn(authorization)
    if (key === undefined)
      return refused(
        failed({
          name: 'credentials_missing',
          fields: { header: 'Authorization: Bearer <key>' },
          ...detailOf(missingKeyHint({ ...NO_CREDENTIALS, authorization: authorization ?? '' })),
        }),
      )
    // A text without the shape of a key is refused without a call to a front.
    if (!isKeyShaped(key))
      return refused(failed({ name: 'key_unknown', ...detailOf(unknownKeyHint(`Bearer ${key}`)) }))
    const digest = hashOfKey(key)
    const knownAt = this.#known.get(digest)
    if (knownAt !== undefined && this.#now() - knownAt <= msMax) return OPERATOR
    const pending = this.#asking.get(digest)
    if (pending !== undefined) return pending
    if (this.#asking.size >= ADMIN_KEYS_MAX) return { kind: 'undecided', answer: failed({ name: 'busy' }) }
    const asking = this.#ask(key, digest).finally(() => this.#asking.delete(digest))
    this.#asking.set(digest, asking)
    return asking
  }

  async #ask(key: string, digest: string): Promise<KeyCheck> {
    // The time is taken before the call: the key may change between the check and the response.
    const beganAt = this.#now()
    const answer = await this.#port.read(SESSION, ['authorization', `Bearer ${key}`], ADMIN_KEY_CHECK_MS_MAX)
    this.#known.delete(digest)
    if (answer === null)
      return {
        kind: 'undecided',
        answer: failed({ name: 'busy', detail: 'No front process is responding.' }),
      }
    if (answer.status !== OK)
      return {
        kind: KEY_REFUSALS.includes(answer.status) ? 'refused' : 'undecided',
        answer: passedOn(answer),
      }
    this.#remember(digest, beganAt)
    return OPERATOR
  }

  #remember(digest: string, atMs: number): void {
    this.#known.set(digest, atMs)
    const [oldest] = this.#known.keys()
    if (this.#known.size > ADMIN_KEYS_MAX && oldest !== undefined) this.#known.delete(oldest)
  }
}

function detailOf(detail: string | null): { readonly detail?: string } {
  return detail === null ? {} : { detail }
}

/** The key of an `authorization` header; undefined if it has none. */
export function keyIn(authorization: string | undefined): string | undefined {
  return authorization === undefined || authorization.length > HEADER_CHARS_MAX
    ? undefined
    : BEARER.exec(authorization)?.[1]
}

function refused(answer: Answer): KeyCheck {
  return { kind: 'refused', answer }
}

function passedOn({ status, headers, body }: SmallAnswer): Answer {
  const kept = KEPT_HEADERS.flatMap((name) =>
    headers[name] === undefined ? [] : [[name, String(headers[name])] as const],
  )
  return { status, body, headers: { 'cache-control': 'no-store', ...Object.fromEntries(kept) } }
}
