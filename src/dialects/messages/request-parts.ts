import { isObject, membersOf, type Members } from '../../schemas/values/members.ts'
import { pointerOf, type JsonPath } from '../../schemas/values/json-path.ts'
import { inlineMedia, isTextDocument, mediaOfText, textOfMedia } from '../prompt/media.ts'
import { cacheControl, cachePointOf, textOf, type Others } from '../prompt/others.ts'
import type { Media, PromptFile, PromptImage, PromptText } from '../prompt/prompt.ts'
import { usedMembers } from '../table/nested-table.ts'

/** A part of a user turn or of a tool result. */
export type GivenPart = PromptText | PromptImage | PromptFile

const TEXT = usedMembers('messages', 'parts', { type: 'text' })
const IMAGE = usedMembers('messages', 'parts', { type: 'image' })
const DOCUMENT = usedMembers('messages', 'parts', { type: 'document' })
const SOURCE = usedMembers('messages', 'parts', { type: 'document', inner: 'source' })

export function blocksOf(content: unknown): readonly Members[] {
  if (typeof content === 'string') return [{ type: 'text', text: content }]
  return Array.isArray(content) ? (content as readonly unknown[]).map(membersOf) : []
}

/** Whether a content is a text or a list. */
export function isContent(content: unknown): boolean {
  return typeof content === 'string' || Array.isArray(content)
}

/** Reads texts, pictures and documents; blocks of other types go to `others`. Empty texts are left out: Anthropic refuses them. */
export function readGiven(block: Members, path: JsonPath, others: Others): readonly GivenPart[] {
  const cache = cachePointOf(block['cache_control'])
  switch (block['type']) {
    case 'text':
      return readText(block, path, others)
    case 'image': {
      others.addRest(block, IMAGE, { path })
      const media = readSource(membersOf(block['source']), [...path, 'source'], others)
      if (media !== null) return [{ kind: 'image', media, detail: null, cache, path: pointerOf(path) }]
      break
    }
    case 'document': {
      const parts = readDocument(block, path, others)
      if (parts !== null) return parts
    }
  }
  others.add('messages.content', path)
  return []
}

export function readText(block: Members, path: JsonPath, others: Others): readonly PromptText[] {
  others.addRest(block, TEXT, { path })
  const text = textOf(block['text']) ?? ''
  const cache = cachePointOf(block['cache_control'])
  // An empty text with a cache mark is kept for now: its mark is moved once the turns are complete.
  return text === '' && cache === null ? [] : [{ kind: 'text', text, cache }]
}

/** Null: the dialect has no such document. */
function readDocument(block: Members, path: JsonPath, others: Others): readonly GivenPart[] | null {
  others.addRest(block, DOCUMENT, { path })
  if (membersOf(block['citations'])['enabled'] === true)
    others.add('document.citations', [...path, 'citations'])
  const { source, title } = block
  const { type, content } = membersOf(source)
  const cache = cachePointOf(block['cache_control'])
  if (type === 'content') {
    if (!isContent(content)) others.addUnread('messages.content', content, [...path, 'source', 'content'])
    const parts = blocksOf(content).flatMap((one, nth) =>
      readGiven(one, [...path, 'source', 'content', nth], others),
    )
    return parts.map((part, at) => (at === parts.length - 1 && cache !== null ? { ...part, cache } : part))
  }
  const media = readSource(membersOf(source), [...path, 'source'], others)
  if (media === null) return null
  return [{ kind: 'file', media, filename: textOf(title), cache, path: pointerOf(path) }]
}

/** Null: the dialect has no such content. */
function readSource(source: Members, path: JsonPath, others: Others): Media | null {
  others.addRest(source, SOURCE, { path })
  const [data, url, id] = [textOf(source['data']), textOf(source['url']), textOf(source['file_id'])]
  switch (source['type']) {
    case 'base64':
      return data === null ? null : inlineMedia(textOf(source['media_type']) ?? '', data)
    case 'text':
      return data === null ? null : mediaOfText(data)
    case 'url':
      return url === null ? null : { kind: 'url', url }
    case 'file':
      return id === null ? null : { kind: 'file_id', id }
    default:
      return null
  }
}

export function writeGiven(part: GivenPart): Members {
  const content = contentOf(part)
  return part.cache === null ? content : { ...content, ...cacheControl(part.cache) }
}

function contentOf(part: GivenPart): Members {
  switch (part.kind) {
    case 'text':
      return { type: 'text', text: part.text }
    case 'image':
      return { type: 'image', source: sourceOf(part.media) }
    case 'file': {
      const { media, filename } = part
      const text = isTextDocument(media) ? textOfMedia(media) : null
      const source = text === null ? sourceOf(media) : { type: 'text', media_type: 'text/plain', data: text }
      return { type: 'document', source, ...(filename !== null && { title: filename }) }
    }
  }
}

function sourceOf(media: Media): Members {
  switch (media.kind) {
    case 'base64':
      return { type: 'base64', media_type: media.mimeType, data: media.data }
    case 'url':
      return { type: 'url', url: media.url }
    case 'file_id':
      return { type: 'file', file_id: media.id }
  }
}

export function argumentsText(input: unknown): string {
  return isObject(input) ? JSON.stringify(input) : '{}'
}
