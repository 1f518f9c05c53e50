/** Contents that a request refers to by an id or an address, in a provider's account or elsewhere. */
import { isFileId } from '../schemas/files/files.ts'
import { isObject, membersOf, type Members } from '../schemas/values/members.ts'
import { pointerOf } from '../schemas/values/json-path.ts'
import { OURS_NAMES } from '../schemas/inference/text-members.ts'

/** Names of members with underscores, and without them, which Google and Azure also accept. */
function spelled(...names: readonly string[]): ReadonlySet<string> {
  return new Set(names.flatMap((name) => [name, name.replaceAll('_', '')]))
}

/** Members whose values are ids of objects in an account. */
const IDS: ReadonlySet<string> = spelled(
  ...['file_id', 'file_ids', 'vector_store_id', 'vector_store_ids', 'container_id', 'collection_id'],
  ...['collection_ids', 'library_id', 'library_ids', 'knowledge_id', 'knowledge_ids', 'knowledge_base_id'],
  ...['knowledge_base_ids', 'cached_content', 'file_search_store_names', 'rag_corpus', 'rag_corpora'],
  ...['rag_file_ids', 'datastore', 'data_store', 'deployment_name', 'embedding_deployment_name'],
  ...['project_connection_id', 'connection_id', 'memory_store_name', 'memory_store_id', 'index_asset_id'],
)
/** Members that count only at the top of the body: elsewhere these names are common. */
const TOP_IDS: ReadonlySet<string> = new Set(['workspace_id', 'user_profile_id'])
/** Members that may be objects with the id of an object in an account. */
const WITH_ID: ReadonlySet<string> = new Set(['voice', 'agent'])
/** Members that hold an account's id or a name that the provider offers to all accounts; the pattern matches the ids. */
const OWN: ReadonlyMap<string, RegExp> = new Map([
  ['skill_id', /^skill_/],
  ['voice', /^voice_/],
  ['engine', /^projects\//],
])
/** The id of a service that a provider calls: with the `authorization` in the same object or, without one, with credentials stored in the account. */
const CONNECTOR = 'connector_id'
const AUTHORIZATION = 'authorization'

/** Members that have addresses, or contents as `data:` URLs or base64. */
const ADDRESSES: ReadonlySet<string> = spelled(
  ...['url', 'uri', 'data', 'file_data', 'file_url', 'file_uri', 'gcs_uri', 'image', 'image_url'],
  ...['input_image', 'audio', 'audio_url', 'input_audio', 'video', 'video_url', 'document_url'],
)
/** Those of ADDRESSES that never contain a text. */
const LOCATORS: ReadonlySet<string> = spelled(
  ...['url', 'uri', 'file_url', 'file_uri', 'image', 'image_url', 'audio_url', 'video', 'video_url'],
  ...['file_data', 'document_url'],
)
/** Members that callers fill freely, and notes on the source of a text: no provider loads a content from them. */
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
/** The input of the Responses dialect; elsewhere this name is used for arguments. */
const INPUT = 'input'

/** Characters of an address that suffice to recognize it. */
const ADDRESS_CHARS = 256
/** Characters that URL parsers skip: before an address, and anywhere in it. */
const [BEFORE_ADDRESS, WITHIN_ADDRESS] = [/^[\s\p{Cc}]+/u, /[\t\n\r]+/g] as const
const OF_ACCOUNT = /^(?:(?:gs|s3|oss|cos|obs|tos|ms|abfss?|wasbs?|azureml|file|fileid|asset):|files\/)/i
const HOST = /^https?:[\\/]*([^\\/?#]+)/i
/** Parts of the host of Google's files, in this order. */
const HOST_PARTS = ['generativelanguage', 'googleapis'] as const
/** The longest file path on common systems. */
const FILE_PATH_CHARS_MAX = 4_096
/** A file of the provider's machine: base64 has no dots, and other addresses have colons. */
const FILE_PATH =
  /^\s*[^:?#\s]+\.(?:avi|bmp|flac|gif|jpe?g|mkv|mov|mp[34]|ogg|pdf|png|tiff?|wav|web[mp])\s*$/i

/** Whether an address refers to a provider's account, or to a file on the provider's machine. */
function isOfAccount(name: string, address: string): boolean {
  const begin = beginOf(address)
  if (OF_ACCOUNT.test(begin) || isOfGoogle(begin)) return true
  return LOCATORS.has(name) && address.length <= FILE_PATH_CHARS_MAX && FILE_PATH.test(address)
}

/** The first characters of an address, as a parser of URLs reads them. */
function beginOf(address: string): string {
  return address.replace(BEFORE_ADDRESS, '').slice(0, ADDRESS_CHARS).replace(WITHIN_ADDRESS, '')
}

/** A single pattern would take quadratic time for a host that repeats the first part. */
function isOfGoogle(begin: string): boolean {
  const host = HOST.exec(begin)?.[1]?.toLowerCase() ?? ''
  const at = host.indexOf(HOST_PARTS[0])
  return at !== -1 && host.includes(HOST_PARTS[1], at)
}

/** Marks a file of the account for Alibaba's models; they read it only in system texts. */
const FILE_IN_TEXT = /fileid:\/\//i
const SYSTEM_TEXTS: ReadonlySet<string> = new Set(['system', 'instructions'])
const SYSTEM_ROLES: ReadonlySet<unknown> = new Set(['system', 'developer'])

/** Marks of access by the identity of the account, and of an agent stored in the account. */
const MANAGED = /managed_?identity$|^agent_reference$/i
/** Azure data sources of a chat: without credentials, Azure reads them with the identity of the account. */
const DATA_SOURCES: ReadonlySet<string> = spelled('data_sources')
/** Index of the list's name, from the end of the path of a source's parameters. */
const PARAMETERS_BELOW = -3
const CREDENTIALS: readonly string[] = ['authentication', 'key']

/** Names of all members that need a check; most members of a body have other names. */
const LOOKED_AT: ReadonlySet<string> = new Set([
  ...[...IDS, ...TOP_IDS, ...OWN.keys(), ...ADDRESSES, ...SYSTEM_TEXTS, ...DATA_SOURCES],
  ...[CONNECTOR, 'type', 'id', 'content'],
])

/**
 * Finds the first id or address of a provider's account in a body.
 * @param members of the body, by name
 * @returns its path, or null
 */
export function accountPathOf(members: Readonly<Record<string, unknown>>): string | null {
  const path: (string | number)[] = []
  for (const name in members)
    if (!OURS.has(name) && isFoundAt(name, members[name], { around: OF_BODY, path })) return pointerOf(path)
  return null
}

const OURS: ReadonlySet<string> = new Set(OURS_NAMES)
/** Members of the body are checked without their siblings. */
const OF_BODY: Around = { object: {}, parent: undefined }

interface Place {
  readonly around: Around
  /** Path of the member being checked; after a match, the path of the match. */
  readonly path: (string | number)[]
}

function isFoundAt(name: string, member: unknown, { around, path }: Place): boolean {
  path.push(name)
  const spelled = spellingOf(name)
  if (LOOKED_AT.has(spelled) && namesAccount(spelled, member, around)) return true
  const isRead = typeof member === 'object' && member !== null && (!UNREAD.has(name) || isReadAt(path))
  if (isRead && isFoundIn(member, path)) return true
  path.pop()
  return false
}

function isFoundIn(value: object, path: (string | number)[]): boolean {
  if (Array.isArray(value)) return isFoundAmong(value, path)
  const object = value as Members
  const place = { around: { object, parent: path.at(-1) }, path }
  for (const name in object) if (isFoundAt(name, object[name], place)) return true
  return false
}

function isFoundAmong(list: readonly unknown[], path: (string | number)[]): boolean {
  for (let nth = 0; nth < list.length; nth++) {
    const one = list[nth]
    if (typeof one !== 'object' || one === null) continue
    path.push(nth)
    if (isFoundIn(one, path)) return true
    path.pop()
  }
  return false
}

/** Whether the provider reads a member although its name is in UNREAD. */
function isReadAt(path: readonly (string | number)[]): boolean {
  const source = path.at(PARAMETERS_BELOW)
  if (typeof source === 'string' && DATA_SOURCES.has(spellingOf(source))) return true
  return path.length === 1 && path[0] === INPUT
}

function spellingOf(name: string): string {
  return /[A-Z]/.test(name) ? name.toLowerCase() : name
}

interface Around {
  readonly object: Members
  /** The name or the index of the object; undefined: the object is the body. */
  readonly parent: string | number | undefined
}

function namesAccount(name: string, member: unknown, { object, parent }: Around): boolean {
  if (IDS.has(name) || (parent === undefined && TOP_IDS.has(name)))
    return idsOf(member).some((id) => id !== '' && !isFileId(id))
  if (DATA_SOURCES.has(name)) return Array.isArray(member) && member.some(isOpenedByAccount)
  if (name === CONNECTOR) return typeof member === 'string' && !isGiven(object[AUTHORIZATION])
  if (typeof member !== 'string') return isSystem(name, object, parent) && textsIn(member).some(namesFile)
  if (name === 'type') return MANAGED.test(member)
  if (name === 'id') return typeof parent === 'string' && WITH_ID.has(spellingOf(parent))
  if (OWN.get(name)?.test(member) === true) return true
  if (isSystem(name, object, parent)) return namesFile(member)
  // The text of a document is also in a member with such a name.
  return ADDRESSES.has(name) && object['type'] !== 'text' && isOfAccount(name, member)
}

/** Whether the member contains system text. */
function isSystem(name: string, object: Members, parent: string | number | undefined): boolean {
  if (parent === undefined) return SYSTEM_TEXTS.has(name)
  return name === 'content' && SYSTEM_ROLES.has(object['role'])
}

function textsIn(parts: unknown): readonly string[] {
  if (!Array.isArray(parts)) return []
  return (parts as readonly unknown[]).flatMap((part) => {
    const { text } = membersOf(part)
    return typeof text === 'string' ? [text] : []
  })
}

function namesFile(text: string): boolean {
  return FILE_IN_TEXT.test(text)
}

function isOpenedByAccount(source: unknown): boolean {
  const parameters = membersOf(membersOf(source)['parameters'])
  return CREDENTIALS.every((name) => !isGiven(parameters[name]) && !isObject(parameters[name]))
}

/** Some providers treat an empty credential as a missing one. */
function isGiven(credential: unknown): boolean {
  return typeof credential === 'string' && credential.trim() !== ''
}

function idsOf(member: unknown): readonly string[] {
  const ids: readonly unknown[] = Array.isArray(member) ? member : [member]
  return ids.filter((id) => typeof id === 'string')
}

/** An address of any kind, a content, or an id of a file. */
const CONTENT = /^(?:[a-z][a-z0-9+.-]*:\/\/|data:|gs:|file:|files\/|c?file[-_][\w-]+\s*$)/i

/**
 * Whether a string at any depth of a part of an unknown type is an address, a `data:` URL or the id of a
 * file: the tokens of its content are unknown.
 */
export function namesContent(value: unknown): boolean {
  if (typeof value === 'string') return isContent(value)
  return typeof value === 'object' && value !== null && Object.values(value).some(namesContent)
}

function isContent(text: string): boolean {
  return CONTENT.test(beginOf(text))
}

/** Texts and names: they may begin like an address. */
const TEXT_MEMBERS: ReadonlySet<string> = new Set([
  ...['type', 'role', 'name', 'title', 'filename', 'model', 'id', 'call_id', 'tool_call_id'],
  ...['content', 'text', 'summary', 'thinking', 'reasoning', 'reasoning_content', 'refusal', 'output'],
])
/** Members with calls and tools: no provider loads a content from addresses in them. */
const CALLS: ReadonlySet<string> = new Set(['tool_calls', 'function_call', 'tools', 'logprobs'])

const NOTHING_READ: ReadonlySet<string> = new Set()

/**
 * Whether a turn, or a part of a known type, names content outside its texts, calls and notes.
 * @param read members that are counted elsewhere
 */
export function namesContentBeside(object: Members, read = NOTHING_READ): boolean {
  for (const name in object) if (!read.has(name) && isContentIn(name, object[name])) return true
  return false
}

function isContentIn(name: string, value: unknown): boolean {
  if (typeof value === 'string') return !TEXT_MEMBERS.has(name) && isContent(value)
  if (typeof value !== 'object' || value === null || UNREAD.has(name) || CALLS.has(name)) return false
  return Array.isArray(value)
    ? value.some((one) => isContentIn(name, one))
    : namesContentBeside(value as Members)
}
