import type { TSchema } from 'typebox'
import type { KeptBody, MemberSpan } from '../../schemas/kept-body.ts'
import type { KeptRequest } from '../../schemas/presets/preset-input.ts'
import { membersOf, type Members } from '../../schemas/values/members.ts'
import { isNull, providerBody, type BodyEdit } from '../../schemas/inference/provider-body.ts'
import { TOP_P_MIN } from '../messages/thinking.ts'
import { joined } from '../../schemas/values/json-bytes.ts'

export type PresetSource = KeptRequest['source']

export type PresetFields = Omit<KeptRequest, 'ignored'>

/** A saved preset in the form in which it is sent to a worker thread: texts are cheap to transfer, whatever they contain. */
export interface SavedPreset extends Omit<PresetFields, 'config'> {
  /** JSON of the fields by the names that they have in the form of `source`. */
  readonly config: string
}

/** A preset in the form of a dialect, as JSON. */
export interface TextPreset {
  /** Values by their names in the dialect; without `model` and `tools`. */
  readonly fields: readonly (readonly [name: string, json: string])[]
  readonly tools: readonly { readonly identity: string; readonly json: string }[]
  /** A text; null: the preset has no system prompt. */
  readonly systemPrompt: string | null
  /** Fields that this dialect cannot express, for `x-sluice-dropped`. */
  readonly dropped: readonly string[]
}

/** How a dialect applies presets that were saved in it or in other dialects. */
export interface PresetForm {
  readonly source: PresetSource
  readonly kept: Readonly<Record<string, TSchema>>
  readonly body: Readonly<Record<string, TSchema>>
  /** Members that a reader of a call needs in addition to the fields of a preset. */
  readonly empty: Members
  /** Groups of fields with the same meaning: one of them in the request replaces all of them in the preset. */
  readonly together: readonly (readonly string[])[]
  /** Members that providers of the form refuse in combination; absent: none. */
  readonly conflicts?: {
    /** Members of a request that are part of such a combination. */
    readonly names: readonly string[]
    /** @param fields of a preset, in the form of the dialect @param own those of the `names` that the request has */
    fitting(fields: Members, own: Members): FittingFields
  }
  /** @param systemPrompt as JSON */
  promptEdits(body: KeptBody, systemPrompt: string): readonly BodyEdit[]
}

/** Two tools with the same identity are the same tool. It is the name of a function, otherwise the type with the tool's name, if any. */
export function toolIdentity(tool: unknown): string {
  const { type = 'custom', name, ...more } = membersOf(tool)
  const named = membersOf(more[String(type)])['name'] ?? name ?? ''
  return JSON.stringify([type, named])
}

/**
 * The caller's bytes with the preset's fields that the request lacks: the preset's tools follow those of the
 * request, and its system prompt comes first. A field of the request replaces the whole field of the preset.
 * All other bytes are unchanged.
 * @param body has passed the schema of the dialect
 * @param model the resulting model
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

export function valueOf(body: KeptBody, member: MemberSpan): unknown {
  return JSON.parse(jsonOf(body, member))
}

/** The JSON of a member's value, as in the body. */
export function jsonOf({ bytes }: KeptBody, { start, end }: MemberSpan): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset + start, end - start).toString()
}

/** Members of a request with which members of a preset may conflict. */
export const BESIDE_THINKING: readonly string[] = ['thinking', 'tool_choice', 'temperature', 'top_p', 'top_k']

export interface FittingFields {
  readonly fields: Members
  /** Fields of the preset that members of the request override. */
  readonly dropped: readonly string[]
}

/** @param fields of the preset, in the form of the Messages dialect @param own members of the request */
export function besideThinking(fields: Members, own: Members): FittingFields {
  const other = twoOfOne(fields, own)
  const rest = without(fields, other)
  const names = Object.keys(rest).filter((name) => !Object.hasOwn(own, name))
  const unfit = isOn(own['thinking']) ? names.filter((name) => isRefused(name, rest[name])) : []
  const isBarred = Object.entries(own).some(([name, value]) => isRefused(name, value))
  const barred = isBarred && isOn(rest['thinking']) && !Object.hasOwn(own, 'thinking') ? ['thinking'] : []
  return {
    fields: without(rest, [...unfit, ...barred]),
    dropped: [...other, ...unfit, ...barred.map(() => 'reasoning')],
  }
}

/** Newer models refuse both members together. */
function twoOfOne(fields: Members, own: Members): readonly string[] {
  return ['temperature', 'top_p'].filter(
    (name, nth, both) => Object.hasOwn(fields, name) && Object.hasOwn(own, both[1 - nth] ?? ''),
  )
}

function isOn(thinking: unknown): boolean {
  const type = membersOf(thinking)['type']
  return type === 'enabled' || type === 'adaptive'
}

/** Whether Anthropic refuses the member together with thinking. */
function isRefused(name: string, value: unknown): boolean {
  switch (name) {
    case 'temperature':
      return value !== 1
    case 'top_p':
      return typeof value === 'number' && value < TOP_P_MIN
    case 'top_k':
      return true
    case 'tool_choice': {
      const { type } = membersOf(value)
      return type === 'any' || type === 'tool'
    }
  }
  return false
}

function without(fields: Members, names: readonly string[]): Members {
  return Object.fromEntries(Object.entries(fields).filter(([name]) => !names.includes(name)))
}
