import { KEY_PREFIXES, OWN_KEYS_BEGIN, RANDOM_CHARS } from './api-keys.ts'

/** The headers in which clients send keys. */
export interface SentCredentials {
  readonly authorization: string
  /** The value of `x-api-key`. */
  readonly anthropicKey: string
  /** The value of `x-sluice-key`. */
  readonly sluiceKey: string
  /** The value of `api-key`, as clients of Azure send it. */
  readonly azureKey: string
}

export const NO_CREDENTIALS: SentCredentials = {
  authorization: '',
  anthropicKey: '',
  sluiceKey: '',
  azureKey: '',
}

const BEARER = /^bearer(?: |$)/i
const OTHER_SCHEME = /^(basic|digest|negotiate|token|apikey|aws4-hmac-sha256) /i
const PLACEHOLDER =
  /^(?:undefined|null|none|nan|true|false|\[object object\]|\$.*|%\w+%|<.*>|\{.*\}|your[-_ ].*|.*\.\.\.|x{3,})$/i

/** Makers of keys by the form of the key; longer prefixes come first. */
const MAKERS: readonly (readonly [form: RegExp, maker: string])[] = [
  [/^sk-ant-/, 'Anthropic'],
  [/^sk-or-/, 'OpenRouter'],
  [/^(?:sk-(?:proj|svcacct|admin|None)-|sk-[A-Za-z0-9_-]{20,}$)/, 'OpenAI'],
  [/^AIza/, 'Google'],
  [/^gsk_/, 'Groq'],
  [/^xai-/, 'xAI'],
  [/^hf_/, 'Hugging Face'],
]

const OTHER_FORMS = [KEY_PREFIXES.intern, KEY_PREFIXES.scim].map((prefix) => `\`${prefix}\``).join(' or ')
const KEY_FORM =
  `Sluice keys begin with \`${KEY_PREFIXES.inference}\` (inference), ` +
  `\`${KEY_PREFIXES.management}\` (management), ${OTHER_FORMS}`

/**
 * What a caller without a readable key should do, judged only by the form of its headers; null when no key
 * was sent.
 * @param header in which the operation takes its key
 */
export function missingKeyHint(
  sent: SentCredentials,
  header: 'authorization' | 'x-sluice-key' = 'authorization',
): string | null {
  const { authorization, anthropicKey, azureKey } = sent
  if (header === 'x-sluice-key')
    return authorization.includes(OWN_KEYS_BEGIN)
      ? 'The key came in `Authorization`, which Sluice forwards to the destination.'
      : null
  if (authorization !== '') return unreadHint(authorization)
  if (sent.sluiceKey !== '')
    return 'The key came in `x-sluice-key`, which Sluice reads only for `/egress` paths.'
  if (anthropicKey !== '')
    return 'The key came in `x-api-key`, which Sluice reads only with `anthropic-version` or on `/api/v1/messages`.'
  return azureKey === '' ? null : 'The key came in `api-key`, which Sluice does not read.'
}

function unreadHint(authorization: string): string {
  if (BEARER.test(authorization))
    return 'There is no key after `Bearer`: the variable for the key may be empty.'
  const scheme = OTHER_SCHEME.exec(authorization)?.[1]
  return scheme === undefined
    ? 'The `Authorization` header lacks the word `Bearer` and a space before the key.'
    : `The \`Authorization\` header has the scheme \`${scheme}\` instead of \`Bearer\`.`
}

/**
 * What a caller should do whose key cannot be a Sluice key, judged only by its form; contains no part of the
 * key. Null for a key of the right form.
 * @param authorization the header with `Bearer`
 */
export function unknownKeyHint(authorization: string): string | null {
  const key = authorization.slice('Bearer '.length).trim()
  if (BEARER.test(key))
    return 'The `Authorization` header has `Bearer` twice: the client adds `Bearer`, so configure only the key.'
  if (/^["'`]|["'`]$/.test(key)) return 'The key has quotation marks around it: remove them.'
  const prefix = Object.values(KEY_PREFIXES).find((each) => key.startsWith(each))
  if (prefix !== undefined) return ownKeyHint(prefix, key.slice(prefix.length))
  if (key.startsWith(OWN_KEYS_BEGIN)) return `The beginning of the key is wrong: ${KEY_FORM}.`
  if (PLACEHOLDER.test(key))
    return 'A placeholder was sent instead of a key: the variable for the key may not be set.'
  const maker = MAKERS.find(([form]) => form.test(key))?.[1]
  return maker === undefined
    ? `The key does not have the form of a Sluice key: ${KEY_FORM}.`
    : `The key looks like a key of ${maker}: ${KEY_FORM}. ` +
        'Provider keys belong in the environment of the node or in the vault of a workspace, not in a call.'
}

function ownKeyHint(prefix: string, random: string): string | null {
  const more = random.length - RANDOM_CHARS
  const right = `a key has exactly ${RANDOM_CHARS} characters after \`${prefix}\``
  if (more > 0) return `The key is ${characters(more)} too long: ${right}.`
  if (more < 0) return `The key is ${characters(-more)} too short: ${right}; part of it is missing.`
  return /^[\w-]+$/.test(random)
    ? null
    : 'The key contains an invalid character: only letters, digits, `-` and `_` are allowed.'
}

function characters(count: number): string {
  return count === 1 ? 'one character' : `${count} characters`
}
