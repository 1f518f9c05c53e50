import { membersOf, type Members } from '../../schemas/values/members.ts'
import type { JsonPath } from '../../schemas/values/json-path.ts'
import type { ResponsesBody } from '../../schemas/inference/responses.ts'
import { readFreeform, freeformMembers } from '../prompt/freeform-tools.ts'
import { allowedChoice, choiceOfWord, readFunction, type FunctionNames } from '../prompt/functions.ts'
import { textOf, type Others } from '../prompt/others.ts'
import { BETWEEN_TEXTS } from '../prompt/prompt.ts'
import type { PromptTool, ToolChoice } from '../prompt/prompt.ts'
import { offerOf, usedMembers } from '../table/nested-table.ts'
import type { PromptDraft } from '../prompt/prompt-draft.ts'

export interface ToolPlace {
  readonly names: FunctionNames
  readonly others: Others
}

/** A list of tools and its path in the request. */
interface ToolList {
  readonly tools: readonly Members[]
  readonly path: JsonPath
}

/** Types of conversation items that declare tools. */
const BRINGING: ReadonlySet<unknown> = new Set(['additional_tools', 'tool_search_output'])

/** The tool lists of a request and of its conversation items. */
export function toolLists({ tools, input }: Pick<ResponsesBody, 'tools' | 'input'>): readonly ToolList[] {
  const items = Array.isArray(input) ? input.map(membersOf) : []
  const brought = items.flatMap(({ type, tools: within }, nth) =>
    BRINGING.has(type) && Array.isArray(within)
      ? [{ tools: within.map(membersOf), path: ['input', nth, 'tools'] }]
      : [],
  )
  return [{ tools: (tools ?? []).map(membersOf), path: ['tools'] }, ...brought]
}

/** A repeated tool is declared once, by its last declaration in the conversation. */
export function readTools(lists: readonly ToolList[], place: ToolPlace): readonly PromptTool[] {
  const read = lists.map((list) => readList(list, place))
  const last = new Map(read.flatMap((tools, nth) => tools.map(({ name }) => [name, nth] as const)))
  return read.flatMap((tools, nth) => tools.filter(({ name }) => last.get(name) === nth))
}

function readList({ tools, path: list }: ToolList, { names, others }: ToolPlace): readonly PromptTool[] {
  return tools.flatMap((tool, nth) => {
    const path = [...list, nth]
    if (tool['type'] === 'namespace') return readNamespace(tool, path, { names, others })
    const read = readTool(tool, path, others)
    if (read !== null) return [read]
    if (isOffered(tool)) others.drop(String(tool['type']), path)
    else others.add('tools', path)
    return []
  })
}

/** Null: not a tool that the caller runs and that a function can replace. */
function readTool(tool: Members, path: JsonPath, others: Others): PromptTool | null {
  if (tool['type'] === 'function')
    return readFunction(tool, { path, used: FUNCTION, schema: 'parameters' }, others)
  return tool['type'] === 'custom' ? readFreeform(tool, path, others) : null
}

const FUNCTION = usedMembers('responses', 'tools', { type: 'function' })
const NAMESPACE = usedMembers('responses', 'tools', { type: 'namespace' })

/** Puts the description of a namespace before that of its first tool. */
function readNamespace(
  members: Members,
  path: JsonPath,
  { names, others }: ToolPlace,
): readonly PromptTool[] {
  others.addRest(members, NAMESPACE, { path })
  const { tools } = members
  const [namespace, about] = [namespaceOf(members['name']), textOf(members['description'])]
  const within = Array.isArray(tools) ? (tools as readonly unknown[]) : []
  return within.flatMap((one, nth) => {
    const read = readTool(membersOf(one), [...path, 'tools', nth], others)
    if (read === null) others.add('tools', [...path, 'tools', nth])
    if (read === null) return []
    const { name, description } = read
    const own = { name, isFreeform: false, description, format: null, ...read.origin, namespace, about }
    const texts = [nth === 0 ? about : null, description].filter((text) => (text ?? '') !== '')
    const words = texts.length === 0 ? null : texts.join(BETWEEN_TEXTS)
    return [{ ...read, name: names.of(namespace, name), description: words, origin: own }]
  })
}

/** Null: a tool without a namespace. */
export function namespaceOf(name: unknown): string | null {
  return name === '' ? null : textOf(name)
}

/** Whether the client sends the tool with every call. */
function isOffered(tool: Members): boolean {
  const offer = offerOf(tool['type'])
  if (offer === null) return false
  const value = tool[offer.member]
  return offer.value === undefined ? typeof value === 'boolean' : value === offer.value
}

/** Types of choices that name a tool which the caller runs. */
const NAMED: ReadonlySet<unknown> = new Set(['function', 'custom'])

/** A choice contains only the tool's name; the tool may be in a namespace. */
export function readChoice(choice: unknown, tools: readonly PromptTool[], others: Others): ToolChoice | null {
  if (choice === null || typeof choice === 'string') return choiceOfWord(choice)
  const choiceMembers = membersOf(choice)
  const nameOf = ({ type, name }: Members): string | null => {
    if (!NAMED.has(type) || typeof name !== 'string') return null
    if (tools.some((tool) => tool.name === name)) return name
    return tools.find(({ origin }) => origin?.name === name)?.name ?? name
  }
  const name = nameOf(choiceMembers)
  if (name !== null) return { kind: 'tool', name }
  const some = choiceMembers['type'] === 'allowed_tools' ? allowedChoice(choiceMembers, nameOf) : null
  if (some === null) others.add('tool_choice', ['tool_choice'])
  return some
}

/** Providers refuse `tool_choice` without tools. */
export function writeTools(draft: PromptDraft): void {
  const { tools, toolChoice, isParallel } = draft.prompt
  if (tools.length === 0) return
  draft.set(
    'tools',
    draft.isSameForm ? ownTools(tools) : tools.map((tool) => toolMember(tool, { isSameForm: false })),
  )
  draft.set('tool_choice', toolChoice === null ? null : choiceMember(draft, toolChoice))
  draft.set('parallel_tool_calls', isParallel)
}

/** Tools of the Responses dialect are strict by default; tools of the other dialects are not. */
function toolMember(
  { name, description, schema, isStrict }: PromptTool,
  { isSameForm }: { readonly isSameForm: boolean },
): Members {
  return {
    type: 'function',
    name,
    ...(description !== null && { description }),
    parameters: schema,
    strict: isStrict ?? (isSameForm ? null : false),
  }
}

/** Tools as the caller declared them; consecutive tools of one namespace are grouped again. */
function ownTools(tools: readonly PromptTool[]): readonly Members[] {
  const written: Members[] = []
  let last: string | null = null
  let within: Members[] = []
  for (const tool of tools) {
    const { namespace = null, about = null } = tool.origin ?? {}
    if (namespace !== null && namespace !== last) {
      within = []
      written.push({ type: 'namespace', name: namespace, ...described(about), tools: within })
    }
    last = namespace
    const into = namespace === null ? written : within
    into.push(ownTool(tool))
  }
  return written
}

function ownTool(tool: PromptTool): Members {
  const { origin } = tool
  if (origin === undefined) return toolMember(tool, { isSameForm: true })
  if (origin.isFreeform) return { type: 'custom', ...freeformMembers(origin) }
  const { name, description } = origin
  return toolMember({ ...tool, name, description }, { isSameForm: true })
}

function described(description: string | null): Members {
  return description === null ? {} : { description }
}

function choiceMember({ isSameForm, prompt }: PromptDraft, choice: ToolChoice): unknown {
  const named = (name: string): Members => {
    const origin = isSameForm ? prompt.tools.find((tool) => tool.name === name)?.origin : undefined
    return { type: origin?.isFreeform === true ? 'custom' : 'function', name: origin?.name ?? name }
  }
  if (choice.kind === 'tool') return named(choice.name)
  if (choice.kind !== 'allowed') return choice.kind
  return { type: 'allowed_tools', mode: choice.mode, tools: choice.names.map(named) }
}
