/** The table of fields in the form for the documentation. */
import type { Dialect } from '../../schemas/inference/text-request.ts'
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
} from './field-table.ts'
import {
  lostAt,
  lostMembers,
  NESTED,
  NESTED_PLACES,
  offerOf,
  type NestedObject,
  type NestedPlace,
} from './nested-table.ts'
import { RESPONSES_STRICT_CUT_BY_TYPE } from '../../schemas/inference/responses-members.ts'
import { STRICT_CUT_BY_ROLE, STRICT_CUT_INSIDE } from '../../schemas/inference/strict-members.ts'
import type { TextProtocol } from '../../schemas/models/protocols.ts'

/** How a field of callers is handled at endpoints of one kind. */
export interface FieldRow {
  /** Path from the top of the request, with dots; the type of a list's object is in brackets. */
  readonly field: string
  /** `passed`: an endpoint of the caller's own dialect gets the caller's bytes. */
  readonly class: FieldClass | 'passed'
  /** Paths of a mapped field in the endpoint's form. */
  readonly to?: readonly string[]
  /** Values that are handled differently, as text for people. */
  readonly limit?: string
  /** Values, apart from null, that are neither reported nor refused. */
  readonly defaults?: readonly unknown[]
}

/** Endpoints that receive the same form of a request. */
export interface EndpointKind {
  readonly protocol: TextProtocol
  /** They refuse members that they do not know. */
  readonly isStrict: boolean
}

/** Each field of a dialect in the tables, once. Members that are not listed are dropped; objects that are not listed are refused. */
export function fieldRows(dialect: Dialect, kind: EndpointKind): readonly FieldRow[] {
  return [
    ...CARRIED.flatMap((field) =>
      pathsIn(field, dialect).map((path) => carriedRow(field, path, kind, dialect)),
    ),
    ...Object.entries(OTHERS[dialect]).map(([field, { class: of, defaults }]): FieldRow => {
      const row = { field, ...(defaults.length > 0 && { defaults }) }
      return { ...row, class: dialect === kind.protocol ? nativeClass(field, kind) : of }
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
  // For some fields, a strict provider of the same dialect has another name.
  const isLost = to.length === 0 || (protocol === dialect && !field.names[dialect]?.includes(path))
  if (isLost)
    return { field: path, class: field.lost === 'refused' && protocol === dialect ? 'dropped' : field.lost }
  const limit = protocol === dialect ? undefined : field.limits?.[protocol]
  return { field: path, class: 'mapped', to, ...(limit !== undefined && { limit }) }
}

function nativeClass(field: string, { protocol, isStrict }: EndpointKind): FieldRow['class'] {
  return isStrict && isForeign(topOf(field), protocol) ? 'dropped' : 'passed'
}

/** Paths of the turns, their parts and the tools in each dialect. */
const PLACES: Readonly<Record<Dialect, Readonly<Record<NestedPlace, string>>>> = {
  chat: { turns: 'messages', parts: 'messages.content', tools: 'tools' },
  responses: { turns: 'input', parts: 'input.content', tools: 'tools' },
  messages: { turns: 'messages', parts: 'messages.content', tools: 'tools' },
}

/** Rows for each type of nested object, and for those of its members that some endpoint does not get. */
function nestedRows(dialect: Dialect, kind: EndpointKind): readonly FieldRow[] {
  return NESTED_PLACES.flatMap((place) =>
    Object.entries(NESTED[dialect][place]).flatMap(([type, object]) =>
      objectRows({ dialect, place, type }, object, kind),
    ),
  )
}

function objectRows(at: At, object: NestedObject | 'dropped' | 'refused', kind: EndpointKind) {
  const { protocol, isStrict } = kind
  const field = nestedField(at)
  const isNative = protocol === at.dialect
  const rowOf = (path: string, handling: Handling): FieldRow =>
    isNative ? { field: path, class: 'passed' } : { field: path, ...handling }
  if (typeof object === 'string') return [rowOf(field, { class: object, ...offerLimit(at) })]
  const cut = isStrict ? strictCutIn(at, protocol, object) : []
  const members = new Map([
    ...ownCutIn(at).map((name) => [name, MAPPED] as const),
    ...memberHandlings(object, protocol),
  ])
  const rows = Array.from(members, ([name, handling]) =>
    cut.includes(name)
      ? { field: `${field}.${name}`, class: 'dropped' as const }
      : rowOf(`${field}.${name}`, handling),
  )
  return [rowOf(field, objectHandling(object, kind)), ...rows]
}

/** Path of an object within requests. */
export function nestedField({ dialect, place, type }: At): string {
  return `${PLACES[dialect][place]}[${type}]`
}

type Handling = Pick<FieldRow, 'limit'> & { readonly class: FieldClass }

const MAPPED: Handling = { class: 'mapped' }
const REASONING: Handling = { class: 'mapped', limit: 'dropped for providers that do not accept the field' }

function offerLimit({ dialect, place, type }: At): Pick<FieldRow, 'limit'> {
  const offer = dialect === 'responses' && place === 'tools' ? offerOf(type) : null
  return offer === null ? {} : { limit: `dropped ${offer.condition}` }
}

function objectHandling(
  { lacking = [], lackingStrict = [], reasoning }: NestedObject,
  { protocol, isStrict }: EndpointKind,
): Handling {
  if (lacking.includes(protocol) || (isStrict && lackingStrict.includes(protocol)))
    return { class: 'refused' }
  return reasoning === 'whole' ? REASONING : MAPPED
}

/** The members of an object, and of the objects in it, that are not mapped at every endpoint. */
function memberHandlings(object: NestedObject, protocol: TextProtocol): ReadonlyMap<string, Handling> {
  const { dropped = [], refused = [], reasoning = [], inner = {} } = object
  const lost = (name: string): Handling =>
    lostAt(object, name).includes(protocol) ? { class: 'dropped' } : MAPPED
  return new Map<string, Handling>([
    ...lostMembers(object).map((name) => [name, lost(name)] as const),
    ...(reasoning === 'whole' ? [] : reasoning).map((name) => [name, REASONING] as const),
    ...dropped.map((name) => [name, { class: 'dropped' }] as const),
    ...refused.map((name) => [name, { class: 'refused' }] as const),
    ...Object.entries(inner).flatMap(([outer, one]) =>
      Array.from(
        memberHandlings(one, protocol),
        ([name, handling]) => [`${outer}.${name}`, handling] as const,
      ),
    ),
  ])
}

const BY_TYPE: Readonly<Partial<Record<TextProtocol, Readonly<Record<string, readonly string[]>>>>> = {
  chat: STRICT_CUT_BY_ROLE,
  responses: RESPONSES_STRICT_CUT_BY_TYPE,
}

export interface At {
  readonly dialect: Dialect
  readonly place: NestedPlace
  readonly type: string
}

/** Members of an object that strict providers of the same dialect do not get. */
export function ownCutIn({ dialect, place, type }: At): readonly string[] {
  const byType = place === 'turns' ? BY_TYPE[dialect] : undefined
  return byType !== undefined && Object.hasOwn(byType, type) ? (byType[type] ?? []) : []
}

/** Members of an object that strict providers of a protocol, which accept only the maker's members, do not get. */
export function strictCutIn(at: At, protocol: TextProtocol, { carried }: NestedObject): readonly string[] {
  if (BY_TYPE[protocol] === undefined) return []
  const marks = STRICT_CUT_INSIDE.filter((name) => carried.includes(name))
  return [...marks, ...(at.dialect === protocol ? ownCutIn(at) : [])]
}
