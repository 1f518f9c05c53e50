/** Contents that a request refers to by an id or an address, in a provider's account or elsewhere. */
import { isFileId } from '../schemas/files/files.ts'
import { isObject, membersOf, type Members } from '../schemas/values/members.ts'
import { pointerOf } from '../schemas/values/json-path.ts'
import { OURS_NAMES } from '../schemas/inference/text-members.ts'

/** Names of members as some providers write them, and in the other spelling that Google and Azure take. */
function spelled(...names: readonly string[]): ReadonlySet<string> {
  return new Set(names.flatMap((name) => [name, name.replaceAll('_', '')]))
}

/** Members that have ids of what an account holds. */
const IDS: ReadonlySet<string> = spelled(
  ...['file_id', 'file_ids', 'vector_store_id', 'vector_store_ids', 'container_id', 'collection_id'],
  ...['collection_ids', 'library_id', 'library_ids', 'knowledge_id', 'knowledge_ids', 'knowledge_base_id'],
  ...['knowledge_base_ids', 'cached_content', 'file_search_store_names', 'rag_corpus', 'rag_corpora'],
  ...['rag_file_ids', 'datastore', 'data_store', 'deployment_name', 'embedding_deployment_name'],
  ...['project_connection_id', 'connection_id', 'memory_store_name', 'memory_store_id', 'index_asset_id'],
)
/** Members of the body alone, where their names are usual ones elsewhere. */
const TOP_IDS: ReadonlySet<string> = new Set(['workspace_id', 'user_profile_id'])
/** Members whose objects have an id of what an account holds. */
const WITH_ID: ReadonlySet<string> = new Set(['voice', 'agent'])
/** Ids among names that a provider has for everybody. */
const OWN: ReadonlyMap<string, RegExp> = new Map([
  ['skill_id', /^skill_/],
  ['voice', /^voice_/],
  ['engine', /^projects\//],
])
/** A service that a provider calls: named by members of the same object, or by the account's stored data. */
const CONNECTOR = 'connector_id'
const AUTHORIZATION = 'authorization'

/** Members that have addresses, or contents as `data:` URLs or base64. */
const ADDRESSES: ReadonlySet<string> = spelled(
  ...['url', 'uri', 'data', 'file_data', 'file_url', 'file_uri', 'gcs_uri', 'image', 'image_url'],
  ...['input_image', 'audio', 'audio_url', 'input_audio', 'video', 'video_url', 'document_url'],
)
/** Those of them that have no texts. */
const LOCATORS: ReadonlySet<string> = spelled(
  ...['url', 'uri', 'file_url', 'file_uri', 'image', 'image_url', 'audio_url', 'video', 'video_url'],
  ...['file_data', 'document_url'],
)
/** Members with what callers chose themselves, and with notes where a text came from: no provider reads a content by them. */
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
/** The input of responses, whose name is that of arguments elsewhere. */
const INPUT = 'input'

/** Characters of an address that suffice to recognize it. */
const ADDRESS_CHARS = 256
/** Characters that parsers of URLs leave out before an address, and at any place of it. */
const [BEFORE_ADDRESS, WITHIN_ADDRESS] = [/^[\s\p{Cc}]+/u, /[\t\n\r]+/g] as const
const OF_ACCOUNT = /^(?:(?:gs|s3|oss|cos|obs|tos|ms|abfss?|wasbs?|azureml|file|fileid|asset):|files\/)/i
const HOST = /^https?:[\\/]*([^\\/?#]+)/i
/** Parts of the host of Google's files, in this order. */
const HOST_PARTS = ['generativelanguage', 'googleapis'] as const
/** The longest path of a file, of common systems. */
const FILE_PATH_CHARS_MAX = 4_096
/** A file of the provider's machine: base64 has no dots, and other addresses have colons. */
const FILE_PATH =
  /^\s*[^:?#\s]+\.(?:avi|bmp|flac|gif|jpe?g|mkv|mov|mp[34]|ogg|pdf|png|tiff?|wav|web[mp])\s*$/i

/** Whether an address leads into a provider's account, or to a file of its machine. */
function isOfAccount(name: string, address: string): boolean {
  const begin = beginOf(address)
  if (OF_ACCOUNT.test(begin) || isOfGoogle(begin)) return true
  return LOCATORS.has(name) && address.length <= FILE_PATH_CHARS_MAX && FILE_PATH.test(address)
}

/** The first characters of an address, as a parser of URLs reads them. */
function beginOf(address: string): string {
  return address.replace(BEFORE_ADDRESS, '').slice(0, ADDRESS_CHARS).replace(WITHIN_ADDRESS, '')
}

/** One pattern for all of it would take the square of the length of a host that repeats the first part. */
function isOfGoogle(begin: string): boolean {
  const host = HOST.exec(begin)?.[1]?.toLowerCase() ?? ''
  const at = host.indexOf(HOST_PARTS[0])
  return at !== -1 && host.includes(HOST_PARTS[1], at)
}

/** Text by which Alibaba's models read files of the account, in texts of the system alone. */
const FILE_IN_TEXT = /fileid:\/\//i
const SYSTEM_TEXTS: ReadonlySet<string> = new Set(['system', 'instructions'])
const SYSTEM_ROLES: ReadonlySet<unknown> = new Set(['system', 'developer'])

/** The account's identity gives access, or an agent that the account has stored answers. */
const MANAGED = /managed_?identity$|^agent_reference$/i
/** Data of Azure that a chat is about: without credentials the identity of the account reads them. */
const DATA_SOURCES: ReadonlySet<string> = spelled('data_sources')
/** Where the list is in the path of the parameters of one of its sources. */
const PARAMETERS_BELOW = -3
const CREDENTIALS: readonly string[] = ['authentication', 'key']

/** Names of all members that may name something: bodies have many others. */
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
/** Members of the body say nothing of each other. */
const OF_BODY: Around = { object: {}, parent: undefined }

interface Place {
  readonly around: Around
  /** So far, which becomes that of what is found. */
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

/** Whether the provider reads a member although its name is one of those that it does not read. */
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
  /** The name or the place of the object; undefined: it is the body. */
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
  // The text of a document has such a name, too.
  return ADDRESSES.has(name) && object['type'] !== 'text' && isOfAccount(name, member)
}

/** Whether the member has a text of the system. */
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

/** An empty credential is to some providers as if it were not there. */
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

/** Members that are texts and names, which may begin as an address does. */
const TEXT_MEMBERS: ReadonlySet<string> = new Set([
  ...['type', 'role', 'name', 'title', 'filename', 'model', 'id', 'call_id', 'tool_call_id'],
  ...['content', 'text', 'summary', 'thinking', 'reasoning', 'reasoning_content', 'refusal', 'output'],
])
/** Members with calls and tools, whose addresses no provider reads a content by. */
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
