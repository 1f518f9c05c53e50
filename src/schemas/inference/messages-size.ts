import { membersOf, type Members } from '../values/members.ts'
import { namesContent, namesContentBeside } from '../../dialects/account-contents.ts'
import { CountedMedia, isTextType } from './counted-media.ts'
import { countOf, messagesTools } from './declared-tools.ts'
import type { MessagesBody } from './messages.ts'
import { isPictureUrl } from './forms/contents/fetched-urls.ts'
import { messagesServerTools } from './server-tools.ts'
import type { PlacedModality, TextSize } from './text-request.ts'

type Prompt = Pick<
  MessagesBody,
  'messages' | 'system' | 'tools' | 'mcp_servers' | 'output_config' | 'output_format' | 'thread'
>

/** As `chatSizeOf`. */
export function messagesSizeOf(
  body: Prompt,
  of: { readonly bytes: number; readonly escaped?: number; readonly tokensMax: number | null },
): TextSize {
  const { bytes, escaped = 0, tokensMax } = of
  const { messages, system, output_config, output_format } = body
  const media = new Media()
  media.addAll(system, '/system')
  for (const [nth, message] of messages.entries()) {
    media.addAll(message.content, `/messages/${nth}/content`)
    media.addBeside(message)
  }
  const format = output_config?.format ?? output_format ?? null
  return {
    messages: messages.length,
    ...media.counted.sizes(bytes, escaped),
    tools: countOf(messagesTools(body)),
    hasFormat: format !== null,
    serverTools: messagesServerTools(body),
    tokensMax,
    // Only a thread that begins has all of its input here.
    hasStored: (body.thread ?? null) !== null && membersOf(body.thread)['type'] !== 'create',
  }
}

/** Blocks that are texts or have known blocks as their content; all others may have content that they name. */
const KNOWN =
  /^(?:text|thinking|redacted_thinking|compaction|tool_reference|(?:\w+_)?tool_use|\w+_(?:result|output))$/

/** Those of them with texts alone. */
const TEXTS = /^(?:text|thinking|redacted_thinking|compaction)$/

const CONTENT: ReadonlySet<string> = new Set(['content'])

/** Pictures and documents, also in the results of tools. */
class Media {
  readonly counted = new CountedMedia()

  /** @param content of a message, of a tool's result or of a document @param at its JSON pointer */
  addAll(content: unknown, at: string): void {
    if (Array.isArray(content))
      for (const [nth, block] of content.entries()) this.#add(membersOf(block), `${at}/${nth}`)
  }

  #add(block: Members, at: string): void {
    const { type, source, content } = block
    if (type === 'image') this.#picture(membersOf(source), at)
    else if (type === 'document') this.#document(membersOf(source), at)
    // A tool reads it, not the model.
    else if (type === 'container_upload') this.counted.counts.file++
    else if (!KNOWN.test(String(type)) && namesContent(block)) this.counted.add('file', null)
    else {
      this.addAll(content, `${at}/content`)
      if (TEXTS.test(String(type))) this.addBeside(block)
    }
  }

  /** @param object a turn, or a block of text */
  addBeside(object: Members): void {
    if (namesContentBeside(object, CONTENT)) this.counted.add('file', null)
  }

  #picture(source: Members, at: string): void {
    const { type, media_type, url } = source
    const content = type === 'base64' ? `data:${String(media_type)}` : type === 'url' ? url : null
    const isOther = typeof content === 'string' && !isPictureUrl(content)
    this.#counted(isOther ? 'file' : 'image', source, { name: 'image', path: at })
  }

  #document(source: Members, at: string): void {
    // Its text has bytes in the body.
    if (source['type'] === 'text') return
    if (source['type'] === 'content') this.addAll(source['content'], `${at}/source/content`)
    else this.#counted('file', source, { name: 'file', path: at })
  }

  #counted(kind: 'image' | 'file', { type, data, media_type: mimeType }: Members, at: PlacedModality): void {
    const isInline = type === 'base64' && typeof data === 'string'
    const isHere = type === 'url' || (isInline && !isTextType(mimeType))
    this.counted.add(kind, isInline ? data : null, { isBare: isInline, ...(isHere && { at }) })
  }
}
