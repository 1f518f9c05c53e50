import { membersOf, type Members } from '../values/members.ts'
import { namesContent, namesContentBeside } from '../../dialects/account-contents.ts'
import { CountedMedia } from './counted-media.ts'
import { countOf, responsesTools } from './declared-tools.ts'
import type { ResponsesBody, ResponsesItem } from './responses.ts'
import { isPictureUrl } from './forms/contents/fetched-urls.ts'
import { responsesServerTools } from './server-tools.ts'
import type { MediaCounts, TextSize } from './text-request.ts'

type Kind = keyof MediaCounts
/** The kind of a part or an item by its type, and the members that may have its data. */
const MEDIA: ReadonlyMap<
  string,
  { readonly kind: Kind; readonly names: readonly string[]; readonly isBare?: true }
> = new Map([
  ['input_image', { kind: 'image', names: ['image_url'] }],
  ['computer_screenshot', { kind: 'image', names: ['image_url'] }],
  ['input_audio', { kind: 'audio', names: ['data'], isBare: true }],
  ['input_video', { kind: 'video', names: ['video_url', 'data'] }],
  ['input_file', { kind: 'file', names: ['file_data', 'file_url'] }],
  ['image_generation_call', { kind: 'image', names: ['result'], isBare: true }],
])

/** Items and parts that are texts, or whose addresses are notes of what a tool did. */
const TEXTS =
  /^(?:message|reasoning|refusal|compaction|item_reference|(?:input|output|summary|reasoning)_text|\w+_call(?:_output)?|mcp_\w+|tool_search_\w+)$/

/** Those with addresses that are such notes. */
const NOTED = /(?:_call|_output)$|^(?:mcp|tool_search)_/

/** What goes on from what a provider has stored. D8. */
const REFERENCE = 'item_reference'

/** As `chatSizeOf`. */
export function responsesSizeOf(body: ResponsesBody, bytes: number, escaped = 0): TextSize {
  const { input, instructions, text, max_output_tokens } = body
  const items = Array.isArray(input) ? input : []
  const media = new CountedMedia()
  for (const [nth, item] of items.entries()) addItem(media, item, `/input/${nth}`)
  return {
    messages: (Array.isArray(input) ? items.length : 1) + (typeof instructions === 'string' ? 1 : 0),
    ...media.sizes(bytes, escaped),
    tools: countOf(responsesTools(body)),
    hasFormat: (text?.format?.type ?? 'text') !== 'text',
    tokensMax: max_output_tokens ?? null,
    serverTools: responsesServerTools(body),
    hasStored:
      [body.previous_response_id, body.conversation, body.prompt].some((one) => (one ?? null) !== null) ||
      items.some((item) => 'type' in item && item.type === REFERENCE),
  }
}

/** Adds media of parts, of outputs of tools, and of items that are media themselves. */
function addItem(media: CountedMedia, item: ResponsesItem, at: string): void {
  const { content, output, summary, ...own }: Members = item
  addPart(media, TEXTS.test(String(own['type'] ?? 'message')) ? own : item, null)
  for (const [name, parts] of Object.entries({ content, output, summary })) {
    if (!Array.isArray(parts)) addPart(media, parts, `${at}/${name}`)
    else
      for (const [nth, part] of (parts as readonly unknown[]).entries())
        addPart(media, part, `${at}/${name}/${nth}`)
  }
}

/** @param at its JSON pointer; null: a model made it in an earlier turn */
function addPart(media: CountedMedia, part: unknown, at: string | null): void {
  const members = membersOf(part)
  const found = MEDIA.get(String(members['type']))
  if (found === undefined) {
    const type = String(members['type'] ?? 'message')
    const isNamed = TEXTS.test(type)
      ? !NOTED.test(type) && namesContentBeside(members)
      : namesContent(members)
    if (isNamed) media.add('file', null)
    return
  }
  const { kind, names, isBare = false } = found
  // Sound and video lie in an object of the type's name.
  const inner = membersOf(members[String(members['type'])])
  const data = names.map((name) => members[name] ?? inner[name]).find((one) => typeof one === 'string')
  const isOther = kind === 'image' && !isBare && data !== undefined && !isPictureUrl(data)
  const isSmall = members['detail'] === 'low'
  const isHere = at !== null && data !== undefined
  media.add(isOther ? 'file' : kind, data ?? null, {
    isBare,
    isSmall,
    ...(isHere && { at: { name: kind, path: at } }),
  })
}
