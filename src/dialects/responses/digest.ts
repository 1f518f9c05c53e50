import { ok, type Outcome } from '../../schemas/failures.ts'
import { membersOf, type Members } from '../../schemas/values/members.ts'
import { conversationOf } from '../../schemas/inference/conversation.ts'
import { responsesFiles, filesMember } from '../../schemas/inference/file-references.ts'
import type { ResponsesBody, ResponsesItem } from '../../schemas/inference/responses.ts'
import {
  asksReasoning,
  effortOf,
  commonInputOf,
  comparedPathOf,
  refusedOf,
  repeatedOf,
  wantsReasoning,
  wordsOf,
  formOf,
} from '../text-digest.ts'
import type { TextInput, MediaCounts, TextSize } from '../../schemas/inference/text-request.ts'
import { namesContent, namesContentBeside } from '../account-contents.ts'
import { CountedMedia } from '../../schemas/inference/counted-media.ts'
import {
  responsesServerTools,
  hasNamed,
  responsesTools,
  type DeclaredTool,
  countOf,
} from '../../schemas/inference/server-tools.ts'
import { isPictureUrl } from '../prompt/media.ts'

/** Prefix of the ids of reasoning items. Reasoning sent only by its id is dropped, since nothing is stored. */
export const REASONING_ID = 'rs_'
/** Of `include`. */
const ENCRYPTED_REASONING = 'reasoning.encrypted_content'

/**
 * @param body has passed the schema
 * @param bytes of the whole body
 * @param escaped those of `bytes` that escapes take beyond their characters
 * Failure: not_supported, with the member as its issue.
 */
export function responsesInputOf(
  body: Readonly<Record<string, unknown>>,
  bytes: number,
  escaped?: number,
): Outcome<TextInput> {
  const asked = body as unknown as ResponsesBody
  const refused = refusedOf(asked, responsesTools(asked))
  if (refused !== null) return refused
  const { input, instructions, reasoning, tool_choice: choice } = asked
  const items: readonly ResponsesItem[] =
    typeof input === 'string' ? [{ role: 'user', content: input }] : (input ?? [])
  const files = responsesFiles(items)
  if (!files.ok) return files
  const last = items.findLast((item) => 'role' in item && item.role === 'user')
  const first = items.find((item) => 'role' in item && item.role === 'user')
  const tool =
    typeof choice === 'object' && choice !== null && 'name' in choice && typeof choice.name === 'string'
      ? choice.name
      : null
  const statePath = statePathOf(asked, items)
  const repeated = repeatedOf(last && textsOf(last))
  const format = asked.text?.format
  const common = commonInputOf(asked)
  const accountPath = common.accountPath ?? pictureIdPath(items)
  return ok({
    dialect: 'responses',
    ...common,
    ...repeated,
    ...formOf(format, { schema: membersOf(format)['schema'], last: repeated.last }),
    isUsageAlone: false,
    ...(asked.include?.includes(ENCRYPTED_REASONING) === true && { isEncryptedAsked: true }),
    choices: 1,
    stops: [],
    isReasoning: wantsReasoning(reasoning),
    asksReasoning: asksReasoning(reasoning),
    ...effortOf(reasoning?.effort, membersOf(reasoning)['max_tokens']),
    tool,
    hasTool: hasNamed(responsesTools(asked), tool),
    conversation: conversationOf(asked.prompt_cache_key, {
      system: [instructions ?? ''],
      user: first === undefined ? [] : textsOf(first),
    }),
    promptWords: items.reduce((sum, item) => sum + wordsOf(textsOf(item)), wordsOf([instructions ?? ''])),
    size: responsesSizeOf(asked, bytes, escaped),
    ...(statePath === null ? null : { statePath }),
    ...(accountPath === null ? null : { accountPath }),
    ...filesMember(files.value),
  })
}

/** Null: the call neither uses stored objects nor stores anything. */
function statePathOf(body: ResponsesBody, items: readonly ResponsesItem[]): string | null {
  if (body.store === true) return '/store'
  if (body.background === true) return '/background'
  for (const name of ['conversation', 'previous_response_id', 'prompt'] as const)
    if ((body[name] ?? null) !== null) return `/${name}`
  const at = items.findIndex(
    (item) => 'type' in item && item.type === 'item_reference' && !isReasoning(Reflect.get(item, 'id')),
  )
  if (at >= 0) return `/input/${at}`
  return containerPathOf(responsesTools(body)) ?? comparedPathOf(membersOf(body))
}

/** The path of the first model-made picture that is sent only by its id, so that the provider has to look up its content. */
function pictureIdPath(items: readonly ResponsesItem[]): string | null {
  const at = items.findIndex((item) => {
    const { type, id, result } = membersOf(item)
    return type === 'image_generation_call' && (id ?? null) !== null && typeof result !== 'string'
  })
  return at < 0 ? null : `/input/${at}/id`
}

/** The path of the first container that a tool names; an object without an id is a new one. */
function containerPathOf(tools: Iterable<DeclaredTool>): string | null {
  for (const { tool, path } of tools) {
    if (typeof tool['container'] === 'string') return `${path}/container`
    if ((membersOf(tool['environment'])['container_id'] ?? null) !== null)
      return `${path}/environment/container_id`
  }
  return null
}

function isReasoning(id: unknown): boolean {
  return typeof id === 'string' && id.startsWith(REASONING_ID)
}

/** Texts of messages and of tool results. */
function textsOf(item: ResponsesItem): readonly string[] {
  const content: unknown = 'content' in item ? item.content : 'output' in item ? item.output : null
  if (typeof content === 'string') return [content]
  if (!Array.isArray(content)) return []
  return (content as readonly unknown[]).flatMap((part) => {
    const { text } = membersOf(part)
    return typeof text === 'string' ? [text] : []
  })
}

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

/** Items and parts that are texts, or whose addresses only record a tool's actions. */
const TEXTS =
  /^(?:message|reasoning|refusal|compaction|item_reference|(?:input|output|summary|reasoning)_text|\w+_call(?:_output)?|mcp_\w+|tool_search_\w+)$/

/** The types among them whose addresses only record a tool's actions. */
const NOTED = /(?:_call|_output)$|^(?:mcp|tool_search)_/

/** Type of an item that refers to an object stored by the provider. */
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
  // The data of sounds and videos is in an object named after the type.
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
