/** The table of fields as people and documents read it. D6. */
import type { TextProtocol } from '../../../models/text-models.ts'
import type { Dialect } from '../../text-request.ts'
import {
  CARRIED,
  isForeign,
  OTHERS,
  oursIn,
  pathsIn,
  topOf,
  writtenAs,
  type CarriedField,
  type FieldClass,
} from '../field-table.ts'
import { NESTED, NESTED_PLACES, type NestedObject, type NestedPlace } from './nested-table.ts'
import { strictCutIn } from './strict-nested.ts'

/** What becomes of a field of callers at endpoints of one kind. */
export interface FieldRow {
  /** Path from the top of the request, with dots; the type of an object of a list stands in brackets. */
  readonly field: string
  /** `passed`: an endpoint of the caller's own form gets the caller's bytes. */
  readonly class: FieldClass | 'passed'
  /** Paths of a mapped field in the endpoint's form. */
  readonly to?: readonly string[]
  /** Values of a mapped field that are not taken. */
  readonly limit?: string
  /** Values that are neither named nor refused, beside null. */
  readonly defaults?: readonly unknown[]
}

/** Endpoints that get a request in the same words. */
export interface EndpointKind {
  readonly protocol: TextProtocol
  /** They refuse members that they do not know. */
  readonly isStrict: boolean
}

/** Each field that the tables have for a dialect, once. Other members are dropped, other objects refused. */
export function fieldRows(dialect: Dialect, kind: EndpointKind): readonly FieldRow[] {
  return [
    ...CARRIED.flatMap((field) =>
      pathsIn(field, dialect).map((path) => carriedRow(field, path, kind, dialect)),
    ),
    ...Object.entries(OTHERS[dialect]).map(([field, { class: of, defaults }]): FieldRow => {
      const told = { field, ...(defaults.length > 0 && { defaults }) }
      return { ...told, class: dialect === kind.protocol ? nativeClass(field, kind) : of }
    }),
    ...nestedRows(dialect, kind),
    ...oursIn(dialect).map((field): FieldRow => ({ field, class: 'ours' })),
  ]
}

function carriedRow(field: CarriedField, path: string, kind: EndpointKind, dialect: Dialect): FieldRow {
  const { protocol, isStrict } = kind
  const to = writtenAs(field, protocol, isStrict)
  if (protocol === dialect && !(isStrict && isForeign(path, protocol)))
    return { field: path, class: 'passed' }
  // A strict provider of the same form has another name for some.
  const isLost = to.length === 0 || (protocol === dialect && !field.names[dialect]?.includes(path))
  if (isLost)
    return { field: path, class: field.lost === 'refused' && protocol === dialect ? 'dropped' : field.lost }
  const limit = protocol === dialect ? undefined : field.limits?.[protocol]
  return { field: path, class: 'mapped', to, ...(limit !== undefined && { limit }) }
}

function nativeClass(field: string, { protocol, isStrict }: EndpointKind): FieldRow['class'] {
  return isStrict && isForeign(topOf(field), protocol) ? 'dropped' : 'passed'
}

/** Where each dialect has its turns, their parts, and tools. */
const PLACES: Readonly<Record<Dialect, Readonly<Record<NestedPlace, string>>>> = {
  chat: { turns: 'messages', parts: 'messages.content', tools: 'tools' },
  responses: { turns: 'input', parts: 'input.content', tools: 'tools' },
  messages: { turns: 'messages', parts: 'messages.content', tools: 'tools' },
}

/** Each type of objects within the request, and those of its members that are not mapped. */
function nestedRows(dialect: Dialect, { protocol, isStrict }: EndpointKind): readonly FieldRow[] {
  const isNative = protocol === dialect
  const rowOf = (field: string, of: FieldRow['class']): FieldRow => ({
    field,
    class: isNative ? 'passed' : of,
  })
  return NESTED_PLACES.flatMap((place) =>
    Object.entries(NESTED[dialect][place]).flatMap(([type, object]) => {
      const field = `${PLACES[dialect][place]}[${type}]`
      if (typeof object === 'string') return [rowOf(field, object)]
      const of = object.lacking?.includes(protocol) === true ? 'refused' : 'mapped'
      const cut = (isStrict ? strictCutIn({ dialect, place, type }, protocol, object) : []).map(
        (name) => `${field}.${name}`,
      )
      const lost = lostMembers(field, object).filter(([name]) => !cut.includes(name))
      return [
        rowOf(field, of),
        ...lost.map(([name, one]) => rowOf(name, one)),
        ...cut.map((name): FieldRow => ({ field: name, class: 'dropped' })),
      ]
    }),
  )
}

function lostMembers(
  field: string,
  { dropped = [], refused = [], inner = {} }: NestedObject,
): readonly (readonly [string, 'dropped' | 'refused'])[] {
  return [
    ...dropped.map((name) => [`${field}.${name}`, 'dropped'] as const),
    ...refused.map((name) => [`${field}.${name}`, 'refused'] as const),
    ...Object.entries(inner).flatMap(([name, object]) => lostMembers(`${field}.${name}`, object)),
  ]
}
