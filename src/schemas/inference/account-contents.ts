/** Contents that a request refers to by an id or an address, in a provider's account or elsewhere. */
import { isFileId } from '../files/files.ts'
import { pointerOf } from '../values/json-path.ts'

/** Members that have ids of what an account holds. */
const IDS: ReadonlySet<string> = new Set([
  'file_id',
  'file_ids',
  'vector_store_id',
  'vector_store_ids',
  'container_id',
])
/** Of skills: those that a provider ships have names of other forms. */
const SKILL = 'skill_id'
const OWN_SKILL = /^skill_/
/** Members that have addresses, or contents as `data:` URLs or base64. */
const ADDRESSES: ReadonlySet<string> = new Set([
  'url',
  'uri',
  'data',
  'file_data',
  'file_url',
  'file_uri',
  'image',
  'image_url',
  'input_image',
  'audio',
  'audio_url',
  'input_audio',
  'video',
  'video_url',
  'document_url',
])
/**
 * Members with what callers chose themselves, and with notes where a text came from: no provider reads a
 * content by them.
 */
const UNREAD: ReadonlySet<string> = new Set([
  'input',
  'input_examples',
  'arguments',
  'parameters',
  'input_schema',
  'output_schema',
  'schema',
  'annotations',
  'citations',
  'metadata',
])

/** Characters of an address that suffice to recognize it, with white space before it. */
const ADDRESS_CHARS = 256
const OF_ACCOUNT =
  /^\s*(?:gs:|s3:|file:|files\/|https?:[\\/]*[^\\/?#]*generativelanguage[^\\/?#]*googleapis\.com)/i

/** Whether an address leads into a provider's account. D31. */
function isOfAccount(address: string): boolean {
  return OF_ACCOUNT.test(address.slice(0, ADDRESS_CHARS))
}

/**
 * Finds the first id or address of a provider's account in a body.
 * @param members of the body, by name
 * @returns its path, or null
 */
export function accountPathOf(members: Readonly<Record<string, unknown>>): string | null {
  const path: (string | number)[] = []
  return isFoundIn(members, path) ? pointerOf(path) : null
}

/** @param path so far, which becomes that of what is found */
function isFoundIn(value: object, path: (string | number)[]): boolean {
  const isList = Array.isArray(value)
  for (const [name, member] of Object.entries(value) as Iterable<[string, unknown]>) {
    path.push(isList ? Number(name) : name)
    if (!isList && namesAccount(name, member)) return true
    const isRead = isList || path.length === 1 || !UNREAD.has(name)
    if (typeof member === 'object' && member !== null && isRead && isFoundIn(member, path)) return true
    path.pop()
  }
  return false
}

function namesAccount(name: string, member: unknown): boolean {
  if (IDS.has(name)) return idsOf(member).some((id) => id !== '' && !isFileId(id))
  if (typeof member !== 'string') return false
  return name === SKILL ? OWN_SKILL.test(member) : ADDRESSES.has(name) && isOfAccount(member)
}

function idsOf(member: unknown): readonly string[] {
  const ids: readonly unknown[] = Array.isArray(member) ? member : [member]
  return ids.filter((id) => typeof id === 'string')
}

/** An address of any kind, a content, or an id of a file. */
const CONTENT = /^\s*(?:[a-z][a-z0-9+.-]*:\/\/|data:|gs:|file:|files\/|c?file[-_][\w-]+\s*$)/i

/**
 * Whether a string at any depth of a part of an unknown type is an address, a `data:` URL or the id of a file:
 * the tokens of its content are unknown. D25.
 */
export function namesContent(value: unknown): boolean {
  if (typeof value === 'string') return CONTENT.test(value.slice(0, ADDRESS_CHARS))
  return typeof value === 'object' && value !== null && Object.values(value).some(namesContent)
}
