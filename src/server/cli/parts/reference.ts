import { fail, type FailureName } from '../../../schemas/failures.ts'
import { hashOfKey, isKeyShaped } from '../../../schemas/keys/api-keys.ts'
import { NAMES_COMPARED_MAX } from '../../../schemas/nearest.ts'
import { isId } from '../../store/base/ids.ts'
import { unknownName } from '../../store/base/near-names.ts'
import type { Queryable } from '../../store/base/open.ts'
import {
  findReferred,
  referredNames,
  type Referred,
  type ReferredKind,
} from '../../store/operator/references.ts'
import { need } from './database.ts'
import { CliFailure } from './verb.ts'

interface Missing {
  readonly unknown: FailureName
  /** The verb that lists the objects of this kind; null: no such verb. */
  readonly list: string | null
}

/** Kinds for which an unknown reference is a failure of the catalogue. */
const MISSING = {
  key: { unknown: 'api_key_unknown', list: 'keys list' },
  vault: { unknown: 'vault_unknown', list: 'vault list' },
  'scim token': { unknown: 'scim_token_unknown', list: 'scim tokens list' },
  delivery: { unknown: 'delivery_unknown', list: 'webhooks list' },
  endpoint: { unknown: 'endpoint_unknown', list: 'endpoints list' },
  intern: { unknown: 'intern_unknown', list: null },
} as const satisfies Partial<Record<ReferredKind, Missing>>
type NeededKind = keyof typeof MISSING

/** The plural of each kind, for a message. */
const SEVERAL: Readonly<Record<ReferredKind, string>> = {
  key: 'API keys',
  vault: 'vaults',
  'scim token': 'SCIM tokens',
  delivery: 'deliveries',
  endpoint: 'private endpoints',
  intern: 'interns',
  node: 'nodes',
  journal: 'journals',
  request: 'requests',
}

/** Candidates that the message about an ambiguous text names. Decision. */
const CANDIDATES_MAX = 5
/** Digits of a hash that a message shows. Decision. */
const HASH_SHOWN_DIGITS = 16
const HASH = /^[0-9a-f]{64}$/

/**
 * The full id of a row, which a person named by its id, by the beginning of its id or by its name. A full id is
 * returned unchanged, even if no row has it: it is never taken for a name. Throws CliFailure for a text that
 * matches no row, or several.
 */
export async function idOf(sql: Queryable, kind: NeededKind, text: string): Promise<string> {
  if (!isWhole(kind, text) && isKeyShaped(text)) throw new CliFailure(plainKey(text))
  return (await idMeant(sql, kind, text)) ?? refuseUnknown(sql, kind, text)
}

/** As `idOf`, but a text that matches no row is returned unchanged. */
export async function idIfAny(sql: Queryable, kind: ReferredKind, text: string): Promise<string> {
  return (await idMeant(sql, kind, text)) ?? text
}

/** Null: the text matches no row. Throws CliFailure for a text that matches several. */
async function idMeant(sql: Queryable, kind: ReferredKind, text: string): Promise<string | null> {
  if (isWhole(kind, text)) return text
  const found = await findReferred(sql, kind, { text, countMax: CANDIDATES_MAX + 1 })
  const [row] = found
  if (row === undefined) return null
  return found.length === 1 || row.id === text ? row.id : need<string>(ambiguous(kind, found))
}

/** The message for a plain key that was given instead of its name. */
function plainKey(key: string): string {
  return `arguments are visible to every user of this machine: give the hash of the key, ${hashOfKey(key)}, or its name`
}

function isWhole(kind: ReferredKind, text: string): boolean {
  return kind === 'key' ? HASH.test(text) : isId(text)
}

async function refuseUnknown(sql: Queryable, kind: NeededKind, text: string): Promise<never> {
  const { unknown: name, list } = MISSING[kind]
  const among = await referredNames(sql, kind, NAMES_COMPARED_MAX)
  return list === null
    ? need<never>(unknownName(name, text, among))
    : need<never>(fail(name), { name: text, list, among })
}

function ambiguous(kind: ReferredKind, found: readonly Referred[]): ReturnType<typeof fail> {
  const names = found.slice(0, CANDIDATES_MAX).map(candidateText).join(', ')
  return fail('reference_ambiguous', {
    fields: { what: SEVERAL[kind], remedy: 'give more characters of the id' },
    detail: `Matches: ${names}${found.length > CANDIDATES_MAX ? ' and more' : ''}.`,
  })
}

function candidateText({ id, name }: Referred): string {
  const shownId = HASH.test(id) ? `${id.slice(0, HASH_SHOWN_DIGITS)}…` : id
  return name === null ? shownId : `${shownId} (${name})`
}
