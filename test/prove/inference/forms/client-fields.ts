/** Members of the clients' types that the tables of fields do not know. */
import { isCarried, oursIn, otherField } from '../../../../src/dialects/table/field-table.ts'
import {
  NESTED,
  NESTED_PLACES,
  type NestedObject,
  type NestedPlace,
} from '../../../../src/dialects/table/nested-table.ts'
import type { Dialect } from '../../../../src/schemas/inference/text-request.ts'
import type { RequestType, TypedObject } from '../../../support/inference/clients/client-types.ts'

/** Tools of OpenRouter and what they wrote, which Sluice has not. D9. */
const ROUTER = 'openrouter:'
/** Objects whose types leave their type out: tools of messages that the caller runs. */
const UNTYPED: Readonly<Partial<Record<Dialect, Readonly<Partial<Record<NestedPlace, string>>>>>> = {
  messages: { tools: 'custom' },
}

/** Each once, as a path; empty: all members are in a class. */
export function unknownFields(request: RequestType): readonly string[] {
  const { dialect, members } = request
  const top = members.filter((name) => !isKnown(dialect, name))
  const nested = NESTED_PLACES.flatMap((place) =>
    request[place].flatMap((object) => unknownWithin(dialect, place, object)),
  )
  return [...new Set([...top, ...nested])].map((path) => `${request.client} ${dialect}: ${path}`)
}

function isKnown(dialect: Dialect, name: string): boolean {
  return isCarried(dialect, name) || oursIn(dialect).includes(name) || otherField(dialect, name) !== null
}

function unknownWithin(
  dialect: Dialect,
  place: NestedPlace,
  { type, members }: TypedObject,
): readonly string[] {
  const objects = NESTED[dialect][place]
  const reported = type === '' ? (UNTYPED[dialect]?.[place] ?? type) : type
  if (reported.startsWith(ROUTER)) return []
  if (reported === '')
    return members.filter((name) => !Object.values(objects).some((one) => hasMember(one, name)))
  const object = Object.hasOwn(objects, reported) ? objects[reported] : undefined
  if (object === undefined) return [`${place}[${reported}]`]
  return members.flatMap((name) => (hasMember(object, name) ? [] : [`${place}[${reported}].${name}`]))
}

/** @param path of a member, with a dot for one of an object that the member has */
function hasMember(object: NestedObject | 'dropped' | 'refused', path: string): boolean {
  if (typeof object === 'string') return true
  const [name = '', ...rest] = path.split('.')
  const { carried, labels = [], dropped = [], refused = [], inner = {} } = object
  if (rest.length === 0) return [carried, labels, dropped, refused].some((names) => names.includes(name))
  const within = Object.hasOwn(inner, name) ? inner[name] : undefined
  return within === undefined || hasMember(within, rest.join('.'))
}
