import { membersOf, type Members } from '../../schemas/values/members.ts'
import { pointerOf, type JsonPath } from '../../schemas/values/json-path.ts'
import { isEmptyText, speaking } from '../prompt/cache-points.ts'
import {
  mediaOfUrl,
  urlOfMedia,
  audioOf,
  detailOf,
  fileMedia,
  soundMembers,
  type Located,
} from '../prompt/media.ts'
import { cacheControl, cachePointOf, textOf, type Others } from '../prompt/others.ts'
import type {
  Media,
  PromptRefusal,
  PromptText,
  UserPart,
  AssistantPart,
  PromptReasoning,
  Signature,
} from '../prompt/prompt.ts'
import { usedMembers } from '../table/nested-table.ts'
import { SIGNATURE_FORMATS, UNKNOWN_FORMAT } from '../prompt/signatures.ts'

export type ChatPart = UserPart | PromptRefusal

/** The member of each type of part that has its content. */
const CONTENTS: Readonly<Record<string, string>> = {
  text: 'text',
  refusal: 'refusal',
  image_url: 'image_url',
  input_audio: 'input_audio',
  file: 'file',
  video_url: 'video_url',
  input_video: 'video_url',
}
const NONE: ReadonlySet<string> = new Set()
const USED: ReadonlyMap<string, ReadonlySet<string>> = new Map(
  Object.entries(CONTENTS).map(([type, name]) => [name, usedMembers('chat', 'parts', { type })]),
)
const INNER: ReadonlyMap<string, ReadonlySet<string>> = new Map(
  ['image_url', 'input_audio', 'file', 'video_url'].map((type) => [
    type,
    usedMembers('chat', 'parts', { type, inner: type }),
  ]),
)

/** Parts of a message. Empty texts are left out: some providers refuse them. */
export function readChatContent(content: unknown, path: JsonPath, others: Others): readonly ChatPart[] {
  if (typeof content === 'string') return content === '' ? [] : [{ kind: 'text', text: content, cache: null }]
  if (!Array.isArray(content)) return []
  const parts = (content as readonly unknown[]).flatMap((part, nth) => {
    const read = readPart(membersOf(part), [...path, nth], others)
    if (read === null) others.add('messages.content', [...path, nth])
    return read ?? []
  })
  return speaking(parts, isEmptyText, () => others.add('cache_control', path))
}

/** Null: the dialect has no such part. */
function readPart(part: Members, path: JsonPath, others: Others): ChatPart | null {
  const type = String(part['type'])
  const name = Object.hasOwn(CONTENTS, type) ? CONTENTS[type] : undefined
  if (name === undefined) return null
  others.addRest(part, USED.get(name) ?? NONE, { path })
  const inner = membersOf(part[name])
  const used = INNER.get(name)
  if (used !== undefined) others.addRest(inner, used, { path: [...path, name] })
  const cache = cachePointOf(part['cache_control'] ?? part['prompt_cache_breakpoint'])
  const located = { cache, path: pointerOf(path) }
  const url = textOf(part[name]) ?? textOf(inner['url'])
  switch (name) {
    case 'text':
      return url === null ? null : { kind: 'text', text: url, cache }
    case 'refusal':
      return url === null ? null : { kind: 'refusal', text: url, cache }
    case 'image_url':
      return url === null
        ? null
        : { kind: 'image', media: mediaOfUrl(url), detail: detailOf(inner['detail']), ...located }
    case 'video_url':
      return url === null ? null : { kind: 'video', media: mediaOfUrl(url), ...located }
    case 'input_audio':
      return audioOf(inner, located)
    default:
      if (textOf(inner['file_data']) !== null)
        others.addUnread('file_id', inner['file_id'], [...path, name, 'file_id'])
      return fileOf(inner, located)
  }
}

function fileOf(inner: Members, located: Located): ChatPart | null {
  const media = fileMedia(textOf(inner['file_data']), textOf(inner['file_id']))
  return media === null ? null : { kind: 'file', media, filename: textOf(inner['filename']), ...located }
}

/** A part as chat has it. @param isCut the provider accepts cache marks */
export function writeChatPart(part: ChatPart, isCut: boolean): Members {
  const content = contentOf(part)
  return isCut && part.cache !== null ? { ...content, ...cacheControl(part.cache) } : content
}

function contentOf(part: ChatPart): Members {
  switch (part.kind) {
    case 'text':
      return { type: 'text', text: part.text }
    case 'refusal':
      return { type: 'refusal', refusal: part.text }
    case 'image':
      return {
        type: 'image_url',
        image_url: { url: urlOf(part.media), ...(part.detail !== null && { detail: part.detail }) },
      }
    case 'audio':
      return { type: 'input_audio', input_audio: soundMembers(part) }
    case 'video':
      return { type: 'video_url', video_url: { url: urlOf(part.media) } }
    case 'file':
      return { type: 'file', file: fileMember(part.media, part.filename) }
  }
}

/** A file id has no URL: a request with one is refused. */
function urlOf(media: Media): string {
  return urlOfMedia(media) ?? ''
}

function fileMember(media: Media, filename: string | null): Members {
  const named = filename !== null && { filename }
  return media.kind === 'file_id' ? { file_id: media.id, ...named } : { ...named, file_data: urlOf(media) }
}

export function areTexts(parts: readonly { readonly kind: string }[]): parts is readonly PromptText[] {
  return parts.every(({ kind }) => kind === 'text')
}

export interface ReadDetails {
  readonly parts: readonly PromptReasoning[]
  /** By the ids of their calls. */
  readonly ofCalls: ReadonlyMap<string, Signature>
  /** There are details of other types. */
  readonly hasOthers: boolean
}

const TYPES: ReadonlySet<unknown> = new Set(['reasoning.text', 'reasoning.summary', 'reasoning.encrypted'])

/** @param text `reasoning` of the same message, used when no detail has a text @param callIds of the message */
export function readDetails(
  details: readonly unknown[],
  text: string,
  callIds: ReadonlySet<string>,
): ReadDetails {
  const ofCalls = new Map<string, Signature>()
  const all = joinedFragments(details.map(membersOf))
  const read = all.filter(({ type }) => TYPES.has(type))
  const hasText = read.some((one) => textIn(one) !== '')
  const parts: PromptReasoning[] = hasText || text === '' ? [] : [reasoningOf(text)]
  for (const detail of read) {
    const id = textOf(detail['id'])
    const data = textOf(detail['data'])
    const format = textOf(detail['format']) ?? UNKNOWN_FORMAT
    if (detail['type'] !== 'reasoning.encrypted') {
      const part = textPart(detail, format)
      if (part !== null) parts.push(part)
    } else if (data !== null && id !== null && callIds.has(id)) ofCalls.set(id, { format, data })
    else if (data !== null) addEncrypted(parts, { signature: { format, data }, id })
  }
  return { parts, ofCalls, hasOthers: read.length < all.length }
}

const TEXT_MEMBERS = ['text', 'summary'] as const

/** Some clients send the fragments of a stream as separate entries: fragments of one entry have the same index. */
function joinedFragments(details: readonly Members[]): readonly Members[] {
  const entries: Members[] = []
  for (const detail of details) {
    const last = entries.at(-1)
    const member = TEXT_MEMBERS.find((name) => typeof detail[name] === 'string')
    const isNext =
      last !== undefined &&
      member !== undefined &&
      typeof detail['index'] === 'number' &&
      detail['index'] === last['index'] &&
      detail['type'] === last['type'] &&
      typeof last[member] === 'string' &&
      (last['signature'] ?? null) === null
    if (!isNext) entries.push(detail)
    else
      entries[entries.length - 1] = {
        ...last,
        ...detail,
        [member]: String(last[member]) + String(detail[member]),
      }
  }
  return entries
}

export function reasoningOf(text: string): PromptReasoning {
  return {
    kind: 'reasoning',
    text,
    isSummary: false,
    signature: null,
    isRedacted: false,
    id: null,
    cache: null,
  }
}

function textIn(detail: Members): string {
  return textOf(detail['text']) ?? textOf(detail['summary']) ?? ''
}

function textPart(detail: Members, format: string): PromptReasoning | null {
  const isSummary = detail['type'] === 'reasoning.summary'
  const data = isSummary ? null : textOf(detail['signature'])
  const text = textIn(detail)
  if (text === '' && data === null) return null
  const signature = data === null ? null : { format, data }
  return { ...reasoningOf(text), isSummary, signature, id: textOf(detail['id']) }
}

/** Encrypted data after a text of the same item is its signature. */
function addEncrypted(
  parts: PromptReasoning[],
  { signature, id }: { readonly signature: Signature; readonly id: string | null },
): void {
  const last = parts.at(-1)
  const isRedacted = signature.format === SIGNATURE_FORMATS.messages
  const isOne =
    last !== undefined && !isRedacted && last.signature === null && (last.id ?? id) === (id ?? last.id)
  if (isOne) parts[parts.length - 1] = { ...last, signature, id: last.id ?? id }
  else parts.push({ ...reasoningOf(''), signature, isRedacted, id })
}

/**
 * Writes the signatures of all providers: each entry names its format.
 * @param callIdOf the id that a call has in the same message
 */
export function writeDetails(
  written: readonly AssistantPart[],
  callIdOf = (id: string): string => id,
): readonly Members[] {
  const details: Members[] = []
  const add = (type: string, more: Members): void =>
    void details.push({ type: `reasoning.${type}`, ...more, index: details.length })
  for (const part of written) {
    if (part.kind !== 'reasoning' && part.kind !== 'call') continue
    const { signature } = part
    const { format, data } = signature ?? {}
    if (part.kind === 'call') {
      if (signature !== null) add('encrypted', { data, id: callIdOf(part.id), format })
      continue
    }
    if (part.text === '' && signature === null) continue
    const id = part.id === null ? {} : { id: part.id }
    const isWithin = signature !== null && isSignedWithin(part, details.at(-1))
    const kind = part.isSummary ? 'summary' : 'text'
    if (isWithin) add('text', { text: part.text, signature: data, format, ...id })
    else if (part.text !== '') add(kind, { [kind]: part.text, ...(signature !== null && { format }), ...id })
    if (!isWithin && signature !== null) add('encrypted', { data, format, ...id })
  }
  return details
}

/**
 * Whether the signature is a member of the text's entry. It is for Anthropic, and for a signature of unknown
 * format; other providers send it in an entry after the text.
 * @param before the entry before
 */
function isSignedWithin(part: PromptReasoning, before: Members | undefined): boolean {
  if (part.isRedacted) return false
  const { format } = part.signature ?? {}
  if (format === SIGNATURE_FORMATS.messages) return true
  if (part.isSummary) return false
  return part.text === '' ? isUnsigned(before) : format === UNKNOWN_FORMAT
}

/** Whether encrypted data after the detail would be read as its signature. */
function isUnsigned(detail: Members | undefined): boolean {
  const type = detail?.['type']
  return type === 'reasoning.summary' || (type === 'reasoning.text' && detail?.['signature'] === undefined)
}
