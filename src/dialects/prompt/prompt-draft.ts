import { membersOf } from '../../schemas/values/members.ts'
import type { Prompt, OtherMember, PromptFile, Turn } from './prompt.ts'
import type { WriteTerms, WrittenPrompt, RefusedMember } from './write-terms.ts'
import { isFileId } from '../../schemas/files/files.ts'
import { NESTED_REFUSED, otherField } from '../table/field-table.ts'
import { isTextDocument, PDF, isWebAddress } from './media.ts'
import { joinedBranches } from './json-schemas.ts'
import { STRICT_STOPS_MAX, GEMINI_STOPS_MAX } from '../../schemas/models/openai-maker.ts'
import { LACKING } from '../table/nested-table.ts'
import type { Dialect } from '../../schemas/inference/text-request.ts'
import { type TextProtocol, TEXT_PROTOCOLS } from '../../schemas/models/protocols.ts'

/** A request body being built, with the members that the writer leaves out. */
export class PromptDraft {
  readonly prompt: Prompt
  readonly protocol: TextProtocol
  readonly terms: WriteTerms
  readonly #body: Record<string, unknown> = {}
  /** Dropped names; the value is the path if it cannot be derived from the name. */
  readonly #dropped = new Map<string, string | undefined>()

  constructor(prompt: Prompt, protocol: TextProtocol, terms: WriteTerms) {
    this.prompt = prompt
    this.protocol = protocol
    this.terms = terms
    this.set('model', terms.upstreamModel)
  }

  /** The caller's dialect is also the protocol of the endpoint. */
  get isSameForm(): boolean {
    return this.prompt.dialect === this.protocol
  }

  /** The caller uses another dialect, whose defaults for the contents of an answer may differ. */
  get isForOthers(): boolean {
    return !this.isSameForm && this.terms.isOfPreset !== true
  }

  /** @param path of the member; the names of nested members are joined by dots @param value null: the member is not set */
  set(path: string, value: unknown): void {
    if (value === null) return
    const [top, inner] = namesOf(path)
    this.#body[top] = inner === undefined ? value : { ...membersOf(this.#body[top]), [inner]: value }
  }

  /** @param path as in `set` */
  has(path: string): boolean {
    const [top, inner] = namesOf(path)
    return Object.hasOwn(inner === undefined ? this.#body : membersOf(this.#body[top]), inner ?? top)
  }

  /** Path of the turns in the caller's body. */
  get turnsPath(): string {
    return turnsPathOf(this.prompt.dialect)
  }

  /** Removes a member, and each parent that becomes empty. @param path as in `set` */
  leave(path: string): void {
    const [top, inner] = namesOf(path)
    if (inner === undefined) delete this.#body[top]
    else {
      const { [inner]: _, ...rest } = membersOf(this.#body[top])
      if (Object.keys(rest).length > 0) this.#body[top] = rest
      else delete this.#body[top]
    }
  }

  /** Removes a member and reports it as dropped. */
  cut(name: string): void {
    this.leave(name)
    this.drop(name)
  }

  /** @param name in the Chat dialect @param path in the caller's body; absent: derived from the name */
  drop(name: string, path?: string): void {
    this.#add(shownName(name, this.prompt.dialect), path)
  }

  #add(name: string, path?: string): void {
    if (!this.#dropped.has(name)) this.#dropped.set(name, path)
  }

  written(): WrittenPrompt {
    for (const { name, path } of this.prompt.others)
      if (!isRefused(this.prompt, { name, path })) this.#add(name, path)
    return {
      body: this.#body,
      dropped: [...this.#dropped.keys()],
      paths: new Map(
        [...this.#dropped].flatMap(([name, path]) => (path === undefined ? [] : [[name, path]])),
      ),
      refused: refusedBy(needsOf(this.prompt), this.protocol, this.terms),
    }
  }
}

function namesOf(path: string): readonly [top: string, inner?: string] {
  const dot = path.indexOf('.')
  return dot === -1 ? [path] : [path.slice(0, dot), path.slice(dot + 1)]
}

/** A member that some protocols would refuse. Routing skips their endpoints. */
export interface Need extends RefusedMember {
  /** The protocols that refuse it when the caller's dialect differs. */
  readonly protocols: readonly TextProtocol[]
  /** Of the chat providers, only strict ones, which accept only OpenAI's members, refuse it. */
  readonly isOfStrict?: true
}

/** All needs of a prompt, one for each reason. */
export function needsOf(prompt: Prompt): readonly Need[] {
  const others = prompt.others.filter((other) => isRefused(prompt, other))
  return [
    ...others.map((other) => need(other.path, otherProtocols(prompt), defaultsOf(prompt, other))),
    ...stopNeeds(prompt),
    ...formatNeeds(prompt),
    ...partNeeds(prompt),
    ...schemaNeeds(prompt),
  ]
}

/** Members of a prompt that an endpoint of a protocol refuses. @param needs of the prompt */
export function refusedBy(
  needs: readonly Need[],
  protocol: TextProtocol,
  { isStrict }: Pick<WriteTerms, 'isStrict'>,
): readonly RefusedMember[] {
  return needs
    .filter(({ protocols, isOfStrict }) => protocols.includes(protocol) && (isStrict || isOfStrict !== true))
    .map(({ path, message, expected }) => ({ path, message, expected }))
}

/** Whether the table refuses a member that the intermediate form does not carry. */
export function isRefused({ dialect }: Pick<Prompt, 'dialect'>, { name, path }: OtherMember): boolean {
  const isTop = path.lastIndexOf('/') === 0
  return NESTED_REFUSED.has(name) || (isTop && otherField(dialect, name)?.class === 'refused')
}

/** @param values that the protocols accept; null: none */
function need(path: string, protocols: readonly TextProtocol[], values: string | null = null): Need {
  const takers = TEXT_PROTOCOLS.filter((one) => !protocols.includes(one))
  const endpoint = takers.length === 0 ? null : `an endpoint that supports ${takers.join(' or ')}`
  const expected = [values, endpoint].filter((one) => one !== null).join(', or ')
  return {
    ...{ path, message: 'is not supported by the API of the provider' },
    ...{ expected: expected === '' ? 'nothing here' : expected, protocols },
  }
}

/** The values that are equivalent to omitting the member. */
function defaultsOf({ dialect }: Prompt, { name, path }: OtherMember): string | null {
  const isTop = path.lastIndexOf('/') === 0
  const defaults = isTop ? (otherField(dialect, name)?.defaults ?? []) : []
  return defaults.length === 0 ? null : defaults.map((one) => JSON.stringify(one)).join(' or ')
}

function otherProtocols({ dialect }: Prompt): readonly TextProtocol[] {
  return TEXT_PROTOCOLS.filter((one) => one !== dialect)
}

export const PLACES: Readonly<
  Record<Prompt['dialect'], { readonly stops: string; readonly format: string }>
> = {
  chat: { stops: '/stop', format: '/response_format' },
  responses: { stops: '/stop', format: '/text/format' },
  messages: { stops: '/stop_sequences', format: '/output_config/format' },
}

function stopNeeds({ stops, dialect }: Prompt): readonly Need[] {
  if (stops.length === 0) return []
  const protocols: TextProtocol[] = ['responses']
  // Anthropic refuses a stop sequence that is only white space.
  if (stops.some((stop) => stop.trim() === '')) protocols.push('messages')
  const isMany = stops.length > GEMINI_STOPS_MAX
  if (isMany) protocols.push('gemini')
  const path = PLACES[dialect].stops
  const needs = [
    need(path, protocols, isMany ? `at most ${GEMINI_STOPS_MAX} stop sequences for gemini` : null),
  ]
  // The number of stops is not checked for callers of chat: they wrote the request for a chat provider.
  const isManyAtStrict = dialect !== 'chat' && stops.length > STRICT_STOPS_MAX
  return isManyAtStrict ? [...needs, strictStopNeed(path, isMany)] : needs
}

function strictStopNeed(path: string, isManyAtGemini: boolean): Need {
  const takers = isManyAtGemini ? 'messages' : 'messages or gemini'
  return {
    ...need(path, ['chat']),
    expected: `at most ${STRICT_STOPS_MAX} stop sequences, or an endpoint that supports ${takers}, or ${LAX_CHAT}`,
    isOfStrict: true,
  }
}

function formatNeeds({ format, dialect }: Prompt): readonly Need[] {
  return format?.kind === 'json_object'
    ? [need(PLACES[dialect].format, ['messages'], 'the type `json_schema`')]
    : []
}

/** Anthropic accepts no alternatives at the top of a schema, and Sluice can join them only if all are objects. */
function schemaNeeds({ tools, dialect }: Prompt): readonly Need[] {
  if (dialect === 'messages') return []
  return tools.flatMap(({ schema, path = '/tools' }) =>
    schema === null || joinedBranches(schema) !== null
      ? []
      : need(path, ['messages'], 'a schema whose top-level alternatives are all objects'),
  )
}

function partNeeds({ turns, dialect }: Prompt): readonly Need[] {
  const found = new Map<string, Need>()
  const add = (kind: string, one: Need): void => {
    if (!found.has(kind)) found.set(kind, one)
  }
  for (const turn of turns) for (const part of turn.parts) addPartNeeds(part, dialect, add)
  return [...found.values()]
}

type Part = Turn['parts'][number]

function addPartNeeds(part: Part, dialect: Dialect, add: (kind: string, need: Need) => void): void {
  // The caller's own dialect is also a protocol, and that protocol supports the medium.
  const lacking = (kind: keyof typeof LACKING) => LACKING[kind].filter((one) => one !== dialect)
  if (part.kind === 'audio') return add('audio', need(part.path ?? '', lacking('audio')))
  if (part.kind !== 'image' && part.kind !== 'video' && part.kind !== 'file') return
  const { path = '', media } = part
  // A file of the workspace is replaced by its content.
  if (media.kind === 'file_id' && !isFileId(media.id))
    add('id', {
      ...need(path, TEXT_PROTOCOLS),
      message: 'refers to a file unknown to the provider of the endpoint',
      expected: 'the content of the file or its URL',
    })
  if (part.kind === 'video') {
    add('video', need(path, lacking('video')))
    add('strict video', { ...need(path, ['chat']), expected: VIDEO_TAKERS, isOfStrict: true })
  }
  if (part.kind === 'file') addFileNeeds(part, add)
  if (media.kind === 'base64') {
    const refusing = pictureRefusals(part.kind, media.mimeType)
    if (refusing.length > 0) add(`picture ${refusing.join()}`, need(path, refusing))
  }
  if (media.kind !== 'url') return
  if (media.url.startsWith('data:')) add('data', need(path, ['messages', 'gemini']))
  else if (!isWebAddress(media.url) && !GOOGLE_STORED.test(media.url))
    add('address', { ...need(path, ['gemini']), expected: 'an http or https URL' })
}

const LAX_CHAT = "chat with more fields than OpenAI's"

const VIDEO_TAKERS = `an endpoint that supports gemini, or ${LAX_CHAT}`

function addFileNeeds({ path = '', media }: PromptFile, add: (kind: string, need: Need) => void): void {
  if (media.kind === 'url' && !isWebAddress(media.url))
    add('strict file', { ...need(path, ['chat']), isOfStrict: true })
  if (media.kind !== 'base64' || media.mimeType === PDF || isTextDocument(media)) return
  // Google also accepts pictures, sounds and films as files.
  const isDocument = media.mimeType.startsWith('application/')
  if (isDocument) add('document', need(path, ['messages', 'gemini']))
  else add('medium', need(path, ['messages']))
}

/** Addresses of files stored at Google. */
const GOOGLE_STORED = /^(?:gs:|files\/)/i

const MESSAGES_PICTURES: ReadonlySet<string> = new Set(['image/png', 'image/jpeg', 'image/gif', 'image/webp'])

/** Google accepts moving pictures only as films. */
const GEMINI_PICTURES: ReadonlySet<string> = new Set([
  ...['image/png', 'image/jpeg', 'image/webp', 'image/heic', 'image/heif'],
])

/** Google accepts documents and films in place of a picture; Anthropic accepts only pictures. */
function pictureRefusals(kind: 'image' | 'video' | 'file', mimeType: string): readonly TextProtocol[] {
  const refusing: TextProtocol[] = []
  if (kind === 'image' && !MESSAGES_PICTURES.has(mimeType)) refusing.push('messages')
  if (mimeType.startsWith('image/') && !GEMINI_PICTURES.has(mimeType)) refusing.push('gemini')
  return refusing
}

/** Names of dropped members in the caller's dialect, by the name that writers use, which is that of chat. Absent: the dialect has the same name. */
const SHOWN_NAMES: Readonly<Record<string, Readonly<Partial<Record<Dialect, string>>>>> = {
  'reasoning.max_tokens': { messages: 'thinking.budget_tokens' },
  'reasoning.effort': { messages: 'output_config.effort' },
  'reasoning.exclude': { messages: 'thinking.display' },
  'response_format.json_schema.description': { responses: 'text.format.description' },
  filename: { messages: 'title' },
  parallel_tool_calls: { messages: 'tool_choice.disable_parallel_tool_use' },
  user: { messages: 'metadata.user_id' },
}

/** Path of the turns in a caller's body. */
export function turnsPathOf(dialect: Dialect): string {
  return dialect === 'responses' ? '/input' : '/messages'
}

/** @param name used by writers */
function shownName(name: string, dialect: Dialect): string {
  return (Object.hasOwn(SHOWN_NAMES, name) ? SHOWN_NAMES[name]?.[dialect] : undefined) ?? name
}
