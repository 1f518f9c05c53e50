import { createCipheriv, createDecipheriv, createHmac, hash, randomBytes } from 'node:crypto'
import { hashOfKey } from '../../../schemas/keys/api-keys.ts'
import {
  SESSION_IDLE_MS,
  SESSION_MS_MAX,
  SESSION_SECRET_BYTES,
  SESSIONS_MAX,
} from '../../../schemas/operator/admin-port-limits.ts'

/** The parts of a new session that the browser gets. The node keeps neither. */
export interface NewSession {
  /** For the cookie, which scripts cannot read. */
  readonly id: string
  /** For the page's storage, which a browser opens only to pages of this origin. */
  readonly pageToken: string
}

/** Both halves of a session as sent with a request, and the host to which it was sent. */
export interface SessionClaim extends NewSession {
  /** In lower case, with its port: a session is valid for one address. */
  readonly host: string
}

/** The page's half alone, and the host. */
export type PageClaim = Omit<SessionClaim, 'id'>

/** A session that a request has proven. */
export interface OpenSession {
  readonly key: string
  /** False once the session has ended. Each call counts as a use and renews the session. */
  isOpen(): boolean
}

interface Session {
  readonly keyHash: string
  /** Digest of the page's half and the host, which are enough to end a session. */
  readonly pageDigest: string
  readonly sealedKey: SealedKey
  /** Monotonic milliseconds. */
  readonly beganAt: number
  usedAt: number
}

interface SealedKey {
  readonly nonce: Buffer
  readonly text: Buffer
  readonly tag: Buffer
}

const CIPHER = 'aes-256-gcm'
const NONCE_BYTES = 12

/**
 * Sessions of the dashboard, in the memory of the supervisor: the one process through which all calls of the
 * dashboard go, whichever front answers. The node keeps the hash of a session's id, and the key sealed under
 * both halves of the session. Only the browser has the halves: the node's data alone cannot open a session.
 */
export class Sessions {
  readonly #now: () => number
  /** Sessions by the hash of their id; the least recently used session comes first. */
  readonly #sessions = new Map<string, Session>()

  /** @param now monotonic milliseconds */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now
  }

  /** All that the node keeps, for tests. */
  get kept(): ReadonlyMap<string, unknown> {
    return this.#sessions
  }

  /** Begins a session. Both of its halves are new: no part of a request becomes part of it. */
  begin(key: string, host: string): NewSession {
    const created = { id: secretText(), pageToken: secretText() }
    const now = this.#now()
    for (const [digest, session] of this.#sessions) if (isOver(session, now)) this.#sessions.delete(digest)
    this.#sessions.set(digestOf(created.id), {
      keyHash: hashOfKey(key),
      pageDigest: pageDigestOf({ ...created, host }),
      sealedKey: sealed(key, { ...created, host }),
      beganAt: now,
      usedAt: now,
    })
    if (this.#sessions.size > SESSIONS_MAX) this.#endOneOfMost()
    return created
  }

  /** The session of a claim; null when it has ended, or when the halves do not belong together. */
  open(claim: SessionClaim): OpenSession | null {
    const digest = digestOf(claim.id)
    const session = this.#sessions.get(digest)
    const key = session === undefined ? null : unsealed(session.sealedKey, claim)
    if (key === null || !this.#use(digest)) return null
    return { key, isOpen: () => this.#use(digest) }
  }

  /**
   * Ends a session by the page's half alone, since any service of the host can overwrite the cookie.
   * @returns false when the session had ended already
   */
  end(claim: PageClaim): boolean {
    const pageDigest = pageDigestOf(claim)
    for (const [digest, session] of this.#sessions) {
      if (session.pageDigest !== pageDigest) continue
      this.#sessions.delete(digest)
      return !isOver(session, this.#now())
    }
    return false
  }

  /** Ends all sessions of a key that no longer belongs to an operator. */
  endAllOf(key: string): void {
    const keyHash = hashOfKey(key)
    for (const [digest, session] of this.#sessions)
      if (session.keyHash === keyHash) this.#sessions.delete(digest)
  }

  /**
   * Ends the least recently used session of the key with the most sessions, so that sign-ins with one key cannot evict
   * sessions of others.
   */
  #endOneOfMost(): void {
    const counts = new Map<string, number>()
    for (const { keyHash } of this.#sessions.values()) counts.set(keyHash, (counts.get(keyHash) ?? 0) + 1)
    const most = Math.max(...counts.values())
    for (const [digest, { keyHash }] of this.#sessions)
      if (counts.get(keyHash) === most) return void this.#sessions.delete(digest)
  }

  #use(digest: string): boolean {
    const session = this.#sessions.get(digest)
    if (session === undefined) return false
    this.#sessions.delete(digest)
    const now = this.#now()
    if (isOver(session, now)) return false
    session.usedAt = now
    this.#sessions.set(digest, session)
    return true
  }
}

function isOver({ beganAt, usedAt }: Session, now: number): boolean {
  return now - usedAt >= SESSION_IDLE_MS || now - beganAt >= SESSION_MS_MAX
}

function secretText(): string {
  return randomBytes(SESSION_SECRET_BYTES).toString('base64url')
}

function digestOf(id: string): string {
  return hash('sha256', id, 'base64url')
}

function pageDigestOf({ pageToken, host }: PageClaim): string {
  return digestOf(`${pageToken} ${host}`)
}

/** Both halves are random and of full length, so one keyed hash of them can serve as a key. */
function sealingKey({ id, pageToken }: NewSession): Buffer {
  return createHmac('sha256', id).update(pageToken).digest()
}

function sealed(key: string, claim: SessionClaim): SealedKey {
  const nonce = randomBytes(NONCE_BYTES)
  const cipher = createCipheriv(CIPHER, sealingKey(claim), nonce).setAAD(Buffer.from(claim.host))
  const text = Buffer.concat([cipher.update(key, 'utf8'), cipher.final()])
  return { nonce, text, tag: cipher.getAuthTag() }
}

/** Null when a half or the host differs from that of the sealed session. */
function unsealed({ nonce, text, tag }: SealedKey, claim: SessionClaim): string | null {
  const decipher = createDecipheriv(CIPHER, sealingKey(claim), nonce)
  decipher.setAAD(Buffer.from(claim.host)).setAuthTag(tag)
  try {
    return Buffer.concat([decipher.update(text), decipher.final()]).toString()
  } catch {
    return null
  }
}
