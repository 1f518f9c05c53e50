import type { KeptBody, MemberSpan } from '../../kept-body.ts'
import type { KeptRequest } from '../../presets/preset-input.ts'
import { membersOf } from '../../values/members.ts'
import { joined } from '../../values/pieces.ts'
import { isNull, providerBody, type BodyEdit } from '../provider-body.ts'

export type PresetSource = KeptRequest['source']
type Config = KeptRequest['config']

/** A preset in the form of a dialect, as JSON: texts cross to a thread at once, whatever they hold. */
export interface TextPreset {
  /** Values by their names in the dialect; without `model` and `tools`. */
  readonly fields: readonly (readonly [name: string, json: string])[]
  readonly tools: readonly { readonly identity: string; readonly json: string }[]
  /** A text; null: the preset has no system prompt. */
  readonly systemPrompt: string | null
  /** Fields of another form that have no words here, for `x-sluice-dropped`. D6. */
  readonly dropped: readonly string[]
}

/** What a dialect takes of presets, its own and those of other forms. D10. */
export interface PresetForm {
  readonly source: PresetSource
  /** Fields of each form, by the name that each has in the dialect. */
  readonly names: Readonly<Record<PresetSource, ReadonlyMap<string, string>>>
  /** Fields of which the request's own one stands for all: they say the same thing. */
  readonly together: readonly (readonly string[])[]
  /** The value of another form's field, where the dialect writes it otherwise; undefined: it has none. */
  fieldOf?(name: string, value: unknown): unknown
  /**
   * The choice of tools of another form; absent: words mean the same. Undefined: the dialect has none such.
   * @param hasTools the preset has tools in the dialect
   */
  choiceOf?(choice: unknown, hasTools: boolean): unknown
  /** A tool that another form saved; null: the dialect has no such tool. */
  toolOf(tool: unknown, source: PresetSource): object | null
  /** @param systemPrompt as JSON */
  promptEdits(body: KeptBody, systemPrompt: string): readonly BodyEdit[]
}

/**
 * What a call takes of a preset, whichever form saved it: fields of its own form as they are, those of other
 * forms where the dialect has the same field, and functions in the form of the dialect. D6, D10.
 */
export function textPresetOf(
  form: PresetForm,
  { config, systemPrompt, source }: Omit<KeptRequest, 'ignored'>,
): TextPreset {
  const names = form.names[source]
  const fields = new Map<string, string>()
  const dropped: string[] = []
  const { model: _, tools, tool_choice: choice, ...others } = config
  for (const [name, value] of Object.entries(others)) {
    const ours = names.get(name)
    const isSame = source === form.source || form.fieldOf === undefined
    const written = isSame ? value : form.fieldOf?.(name, value)
    if (ours === undefined || written === undefined) dropped.push(name)
    else fields.set(ours, JSON.stringify(written))
  }
  const taken = takenTools(form, { tools, tool_choice: choice }, source)
  if (taken.choice !== undefined) fields.set('tool_choice', JSON.stringify(taken.choice))
  return {
    fields: [...fields],
    tools: taken.tools.map((tool) => ({ identity: toolIdentity(tool), json: JSON.stringify(tool) })),
    systemPrompt: systemPrompt === null ? null : JSON.stringify(systemPrompt),
    dropped: [...dropped, ...taken.dropped],
  }
}

interface TakenTools {
  readonly tools: readonly unknown[]
  readonly choice: unknown
  readonly dropped: readonly string[]
}

function takenTools(
  form: PresetForm,
  { tools, tool_choice: choice }: Config,
  source: PresetSource,
): TakenTools {
  const all = Array.isArray(tools) ? (tools as readonly unknown[]) : []
  if (source === form.source) return { tools: all, choice, dropped: [] }
  const taken = all.flatMap((tool) => form.toolOf(tool, source) ?? [])
  const isLess = taken.length < all.length
  // A choice among no tools is refused.
  const hasTools = taken.length > 0 || all.length === 0
  const word = typeof choice === 'string' && hasTools ? choice : undefined
  const written = form.choiceOf === undefined ? word : form.choiceOf(choice, taken.length > 0)
  const isLost = choice !== undefined && written === undefined
  return {
    tools: taken,
    choice: written,
    dropped: [...(isLess ? ['tools'] : []), ...(isLost ? ['tool_choice'] : [])],
  }
}

/**
 * What makes two tools the same one: the name of a function, else the type, with a name where the tool has
 * one. B2.2.
 */
function toolIdentity(tool: unknown): string {
  const { type = 'custom', name, ...more } = membersOf(tool)
  const named = membersOf(more[String(type)])['name'] ?? name ?? ''
  return JSON.stringify([type, named])
}

/**
 * The caller's bytes with the fields of the preset that the request lacks: its tools behind those of the
 * request, and its system prompt before all else. What the request says wins as a whole, and all other bytes
 * stay as they are. D10, B2.2.
 * @param body has passed the schema of the dialect
 * @param model that results
 */
export function mergedBody(
  form: PresetForm,
  body: KeptBody,
  { preset, model }: { readonly preset: TextPreset; readonly model: string },
): Uint8Array {
  const edits: BodyEdit[] = [
    { kind: 'set', name: 'model', json: JSON.stringify(model) },
    { kind: 'cut', name: 'preset' },
  ]
  for (const [name, json] of preset.fields) {
    const names = form.together.find((some) => some.includes(name)) ?? [name]
    if (body.knows(name) && names.every((one) => isMissing(body, one)))
      edits.push({ kind: 'add', name, json })
  }
  if (preset.systemPrompt !== null) edits.push(...form.promptEdits(body, preset.systemPrompt))
  edits.push(...toolEdits(body, preset))
  return joined(providerBody(body, edits))
}

export function isMissing(body: KeptBody, name: string): boolean {
  const member = body.last(name)
  return member === null || isNull(body, member)
}

function toolEdits(body: KeptBody, { tools }: TextPreset): readonly BodyEdit[] {
  if (tools.length === 0) return []
  const list = (some: TextPreset['tools']): string => some.map(({ json }) => json).join(',')
  const member = body.last('tools')
  if (member === null || isNull(body, member))
    return [{ kind: 'add', name: 'tools', json: `[${list(tools)}]` }]
  const own = valueOf(body, member) as readonly unknown[]
  const identities = new Set(own.map(toolIdentity))
  const others = tools.filter(({ identity }) => !identities.has(identity))
  if (others.length === 0) return []
  const text = `${own.length === 0 ? '' : ','}${list(others)}`
  return [{ kind: 'insert', at: member.end - 1, text }]
}

/** The value of a member, parsed. */
export function valueOf(body: KeptBody, member: MemberSpan): unknown {
  return JSON.parse(jsonOf(body, member))
}

/** The value of a member, as the body writes it. */
export function jsonOf({ bytes }: KeptBody, { start, end }: MemberSpan): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset + start, end - start).toString()
}

/** Fields that have the same name here and there, and others by their name there. */
export function namesOf(
  same: readonly string[],
  others: Readonly<Record<string, string>> = {},
): ReadonlyMap<string, string> {
  return new Map([...same.map((name) => [name, name] as const), ...Object.entries(others)])
}
