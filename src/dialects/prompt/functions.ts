/** Functions that callers declare, read from and written to every form. */
import { isObject, type Members } from '../../schemas/values/members.ts'
import { pointerOf, type JsonPath } from '../../schemas/values/json-path.ts'
import { cachePointOf, flagOf, textIn, textOf, type Others } from './others.ts'
import type { PromptTool, ToolChoice, Prompt, Turn } from './prompt.ts'
import { HASH_BEGIN, hashed } from '../../schemas/inference/conversation.ts'

interface Declared {
  readonly path: JsonPath
  /** Members of the table. */
  readonly used: ReadonlySet<string>
  /** Name of the member that has the schema of the arguments. */
  readonly schema: string
  /** The object that has the tool's `cache_control`, if it is not in the function itself. */
  readonly outer?: Members
}

export function readFunction(sent: Members, declared: Declared, others: Others): PromptTool {
  const { path, used, schema, outer = sent } = declared
  others.addRest(sent, used, { path })
  const parameters = sent[schema]
  if (!isObject(parameters)) others.addUnread('tools', parameters, [...path, schema])
  return {
    name: textOf(sent['name']) ?? '',
    description: textIn(sent, 'description', { path, others }),
    schema: isObject(parameters) ? parameters : null,
    path: pointerOf([...path, schema]),
    isStrict: flagOf(sent['strict']),
    cache: cachePointOf(outer['cache_control'] ?? outer['prompt_cache_breakpoint']),
  }
}

/**
 * Reads `allowed_tools`: a choice among the declared tools. Null when an entry is not a declared tool.
 * @param sent the object with `mode` and `tools`
 * @param nameOf the name of a tool as its declaration has it
 */
export function allowedChoice(sent: Members, nameOf: (tool: Members) => string | null): ToolChoice | null {
  const { mode, tools } = sent
  if ((mode !== 'auto' && mode !== 'required') || !Array.isArray(tools)) return null
  const names = (tools as readonly unknown[]).map((tool) => (isObject(tool) ? nameOf(tool) : null))
  const known = names.filter((name) => name !== null)
  return known.length < names.length ? null : { kind: 'allowed', mode, names: known }
}

/** Reads a tool choice that is one of OpenAI's words; null for anything else. */
export function choiceOfWord(word: unknown): ToolChoice | null {
  return word === 'auto' || word === 'none' || word === 'required' ? { kind: word } : null
}

/** The most characters of a function's name that all providers accept. */
const FITTING_CHARS_MAX = 64

/** For Google, a name must not begin with a digit. */
const FITTING = /^[A-Za-z_][\w-]*$/

const OTHER_CHARACTERS = /[^\w-]/g

const WRONG_BEGIN = /^[\d-]/

const BETWEEN = '__'

const BASE = 36

export function isFitting(name: string): boolean {
  return name.length <= FITTING_CHARS_MAX && FITTING.test(name)
}

/**
 * Names of the functions that replace tools which other forms cannot express or whose names some providers
 * refuse. They are unique within a request, and a tool has the same name in each request that declares the
 * same tools.
 */
export class FunctionNames {
  readonly #taken: Set<string>
  readonly #names = new Map<string, string>()

  /** @param names already in use: those of tools that keep their names */
  constructor(names: Iterable<string>) {
    this.#taken = new Set(names)
  }

  /** A tool without a namespace keeps its name. */
  of(namespace: string | null, name: string): string {
    return namespace === null ? name : this.#made([namespace, name], joined(namespace, name))
  }

  /** The name itself if all providers accept it. */
  fitting(name: string): string {
    return isFitting(name) ? name : this.#made([name], name)
  }

  #made(own: readonly string[], wanted: string): string {
    const key = JSON.stringify(own)
    const known = this.#names.get(key)
    if (known !== undefined) return known
    const made = this.#free(wanted, key)
    this.#names.set(key, made)
    this.#taken.add(made)
    return made
  }

  #free(wanted: string, key: string): string {
    const fit = wanted.replace(OTHER_CHARACTERS, '_').replace(WRONG_BEGIN, '_$&')
    let name = fit
    for (let nth = 0; name.length > FITTING_CHARS_MAX || this.#taken.has(name); nth++) {
      const end = `_${(hashed(HASH_BEGIN, `${key}${nth}`) >>> 0).toString(BASE)}`
      name = fit.slice(0, FITTING_CHARS_MAX - end.length) + end
    }
    return name
  }
}

/** Clients write the separator at the end of the namespace, at the start of the tool's name, or not at all; some repeat the namespace in the name. */
function joined(namespace: string, name: string): string {
  const isWithin = name.startsWith(namespace)
  const between = namespace.endsWith(BETWEEN) || name.startsWith(BETWEEN) ? '' : BETWEEN
  return isWithin ? name : namespace + between + name
}

/**
 * The prompt with function names that all providers accept, since a dialect may allow longer names and other
 * characters. The answer to the caller has the original names.
 */
export function withFittingNames(prompt: Prompt): Prompt {
  const { tools, toolChoice, turns } = prompt
  const all = [...tools.map(({ name }) => name), ...turns.flatMap(calledIn)]
  if (all.every(isFitting)) return prompt
  const names = new FunctionNames(all.filter(isFitting))
  return {
    ...prompt,
    tools: tools.map((tool) => renamedTool(tool, names)),
    toolChoice: toolChoice === null ? null : renamedChoice(toolChoice, names),
    turns: turns.map((turn) => renamedTurn(turn, names)),
  }
}

function calledIn(turn: Turn): readonly string[] {
  return turn.role === 'assistant'
    ? turn.parts.flatMap((part) => (part.kind === 'call' ? part.name : []))
    : []
}

function renamedChoice(choice: ToolChoice, names: FunctionNames): ToolChoice {
  if (choice.kind === 'tool') return { ...choice, name: names.fitting(choice.name) }
  return choice.kind === 'allowed'
    ? { ...choice, names: choice.names.map((name) => names.fitting(name)) }
    : choice
}

function renamedTool(tool: PromptTool, names: FunctionNames): PromptTool {
  const { name, description } = tool
  const own = { name, namespace: null, isFreeform: false, description, about: null, format: null }
  return isFitting(name) ? tool : { ...tool, name: names.fitting(name), origin: tool.origin ?? own }
}

function renamedTurn(turn: Turn, names: FunctionNames): Turn {
  if (turn.role !== 'assistant') return turn
  const parts = turn.parts.map((part) =>
    part.kind === 'call' ? { ...part, name: names.fitting(part.name) } : part,
  )
  return { ...turn, parts }
}
