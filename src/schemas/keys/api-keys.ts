import { hash, randomBytes } from 'node:crypto'

/** The prefix of a plain key shows its kind. */
export const KEY_PREFIXES = {
  inference: 'sk-sluice-v1-',
  management: 'sk-sluice-mgmt-v1-',
  intern: 'sk-sluice-intern-v1-',
  scim: 'sk-sluice-scim-v1-',
} as const

/** The beginning of every key. */
export const OWN_KEYS_BEGIN = 'sk-sluice-'

export type KeyKind = keyof typeof KEY_PREFIXES

/** Kinds of API keys. Tokens of identity providers are a separate kind that only operators create. */
export type ApiKeyKind = Exclude<KeyKind, 'scim'>

/** Random bytes of a key. */
const KEY_BYTES = 32
/** Characters of the random part in base64url. */
export const RANDOM_CHARS = 43
/** Characters that a label shows of each end of the random part. */
const LABEL_CHARS = 3
const KEY_SHAPE = new RegExp(`^(?:${Object.values(KEY_PREFIXES).join('|')})[A-Za-z0-9_-]{${RANDOM_CHARS}}$`)

export interface NewKey {
  /** Shown once, then forgotten. */
  readonly key: string
  readonly hash: string
}

/** @param random source of random bytes; tests pass their own */
export function newApiKey(kind: KeyKind, random: (bytes: number) => Buffer = randomBytes): NewKey {
  const key = KEY_PREFIXES[kind] + random(KEY_BYTES).toString('base64url')
  return { key, hash: hashOfKey(key) }
}

/** The label by which people recognize a key: its prefix and the ends of its random part. */
export function labelOf(key: string): string {
  const from = key.length - RANDOM_CHARS
  return `${key.slice(0, from + LABEL_CHARS)}...${key.slice(-LABEL_CHARS)}`
}

/** Lower-case hex SHA-256: the public identity of a key. */
export function hashOfKey(key: string): string {
  return hash('sha256', key, 'hex')
}

/** False for a text that cannot be a Sluice key. */
export function isKeyShaped(text: string): boolean {
  return KEY_SHAPE.test(text)
}
