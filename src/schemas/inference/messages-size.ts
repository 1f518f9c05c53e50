import { membersOf, type Members } from '../values/members.ts'
import type { MessagesBody } from './messages.ts'
import type { MediaCounts, TextSize } from './text-request.ts'

type Prompt = Pick<MessagesBody, 'messages' | 'tools' | 'mcp_servers' | 'output_config' | 'output_format'>

/**
 * Tools that a provider describes and the caller runs: their types begin with a name, and end with a date.
 * Every other tool runs at the provider, which repeats the input at each step.
 */
const CLIENT_TOOL = /^(?:custom$|bash_\d|text_editor_\d|computer_\d|memory_\d)/

/** @param bytes of the whole body */
export function messagesSizeOf(
  body: Prompt,
  { bytes, tokensMax }: { readonly bytes: number; readonly tokensMax: number | null },
): TextSize {
  const { messages, tools, mcp_servers, output_config, output_format } = body
  const media = new Media()
  for (const { content } of messages) media.addAll(content)
  const format = output_config?.format ?? output_format ?? null
  return {
    // A character of base64 has a byte, or more where it is escaped.
    promptBytesMost: Math.max(0, bytes - media.base64),
    messages: messages.length,
    tools: tools?.length ?? 0,
    hasFormat: format !== null,
    hasServerTools: (mcp_servers ?? []).length > 0 || (tools ?? []).some(isServerTool),
    media: media.counts,
    tokensMax,
  }
}

function isServerTool({ type }: { readonly type?: string | null }): boolean {
  return !CLIENT_TOOL.test(type ?? 'custom')
}

/** Pictures and documents, also in the results of tools. */
class Media {
  readonly #counts = { image: 0, audio: 0, video: 0, file: 0 }
  /** Characters of their data. */
  base64 = 0

  get counts(): MediaCounts {
    return this.#counts
  }

  /** @param content of a message, of a tool's result or of a document */
  addAll(content: unknown): void {
    if (Array.isArray(content)) for (const block of content) this.#add(membersOf(block))
  }

  #add({ type, source, content }: Members): void {
    if (type === 'image') this.#counted('image', membersOf(source))
    else if (type === 'document') this.#document(membersOf(source))
    else if (type === 'container_upload') this.#counts.file++
    else this.addAll(content)
  }

  #document(source: Members): void {
    // Its text has bytes in the body.
    if (source['type'] === 'text') return
    if (source['type'] === 'content') this.addAll(source['content'])
    else this.#counted('file', source)
  }

  #counted(kind: 'image' | 'file', { type, data }: Members): void {
    this.#counts[kind]++
    if (type === 'base64' && typeof data === 'string') this.base64 += data.length
  }
}
