import type { TSchema } from 'typebox'
import type { Issue } from './failure-metadata.ts'
import { fits } from './fits.ts'
import { ISSUES_MAX } from './limits/limits.ts'

/** The parts of JSON Schema that Sluice's shapes use. */
interface Shape {
  /** Sluice's description of the expected value, used when the generated one would not help. */
  readonly title?: string
  readonly type?: string
  readonly const?: unknown
  readonly enum?: readonly unknown[]
  readonly anyOf?: readonly TSchema[]
  readonly properties?: Readonly<Record<string, TSchema>>
  readonly required?: readonly string[]
  readonly additionalProperties?: boolean | TSchema
  readonly propertyNames?: TSchema
  readonly maxProperties?: number
  readonly items?: TSchema
  readonly minItems?: number
  readonly maxItems?: number
  readonly minLength?: number
  readonly maxLength?: number
  readonly minimum?: number
  readonly exclusiveMinimum?: number
  readonly maximum?: number
  readonly pattern?: string
  readonly format?: string
}

/** Characters of a caller's member name in a path. Decision. */
const PATH_NAME_CHARS_MAX = 64

/**
 * The issues of a value that its compiled validator refused, worded so that a caller can act on them. Made
 * only on failure, since listing issues costs far more than the check.
 * @returns 1 to ISSUES_MAX issues with JSON pointers, never with the offending value.
 */
export function issuesOf(schema: TSchema, value: unknown): Issue[] {
  const issues: Issue[] = []
  explain(schema, value, '', issues)
  if (issues.length === 0) issues.push({ path: '', message: 'is not valid', expected: expectedBy(schema) })
  return issues
}

/** A shape in words: `string, array of strings or null`. */
export function expectedBy(schema: TSchema): string {
  const shape: Shape = schema
  if (shape.title !== undefined) return shape.title
  if (shape.anyOf !== undefined) return alternatives(shape.anyOf)
  if ('const' in shape) return JSON.stringify(shape.const)
  if (shape.enum !== undefined) return oneOf(shape.enum)
  if (shape.type === 'array')
    return `array of ${plural(shape.items === undefined ? 'value' : expectedBy(shape.items))}`
  return `${shape.type ?? 'value'}${bounds(shape)}`
}

function explain(schema: TSchema, value: unknown, path: string, issues: Issue[]): void {
  if (issues.length >= ISSUES_MAX) return
  const shape: Shape = schema
  if (shape.anyOf !== undefined) return explainUnion(schema, value, path, issues)
  if (shape.type === 'object' && kindOf(value) === 'object')
    return explainObject(shape, value as object, path, issues)
  if (shape.type === 'array' && Array.isArray(value)) return explainArray(shape, value, path, issues)
  if (!fits(schema, value))
    issues.push({ path, message: complaint(shape, value), expected: expectedBy(schema) })
}

function explainObject(shape: Shape, value: object, path: string, issues: Issue[]): void {
  const known = shape.properties ?? {}
  const members = value as Readonly<Record<string, unknown>>
  for (const name of shape.required ?? []) {
    if (issues.length >= ISSUES_MAX) return
    if (Object.hasOwn(members, name)) continue
    const member = known[name]
    const expected = member === undefined ? 'value' : expectedBy(member)
    issues.push({ path: below(path, name), message: 'is required', expected })
  }
  const names = Object.keys(members)
  if (names.length > (shape.maxProperties ?? Infinity)) {
    issues.push({ path, message: 'has too many members', expected: `at most ${shape.maxProperties} members` })
    return
  }
  for (const name of names) {
    if (issues.length >= ISSUES_MAX) return
    const schema = Object.hasOwn(known, name) ? known[name] : shape.additionalProperties
    const at = below(path, name)
    if (shape.propertyNames !== undefined && !fits(shape.propertyNames, name)) {
      issues.push({
        path: at,
        message: 'has a name that is not allowed',
        expected: `name: ${expectedBy(shape.propertyNames)}`,
      })
    }
    if (typeof schema === 'object') explain(schema, members[name], at, issues)
    else if (schema === false)
      issues.push({ path: at, message: 'is not a known member', expected: Object.keys(known).join(', ') })
  }
}

function explainArray(shape: Shape, value: readonly unknown[], path: string, issues: Issue[]): void {
  const isTooShort = value.length < (shape.minItems ?? 0)
  if (isTooShort || value.length > (shape.maxItems ?? Infinity)) {
    issues.push({
      path,
      message: isTooShort ? 'has too few elements' : 'has too many elements',
      expected: elementsOf(shape),
    })
    return
  }
  if (shape.items === undefined) return
  for (let i = 0; i < value.length && issues.length < ISSUES_MAX; i++) {
    if (!fits(shape.items, value[i])) explain(shape.items, value[i], `${path}/${i}`, issues)
  }
}

function elementsOf({ minItems: least, maxItems: most }: Shape): string {
  if (least !== undefined && most !== undefined)
    return least === most ? `${least} elements` : `${least} to ${most} elements`
  return least === undefined ? `at most ${most} elements` : `at least ${least} elements`
}

/** Reports the issues of the branch that the caller clearly meant; otherwise lists all branches. */
function explainUnion(schema: TSchema, value: unknown, path: string, issues: Issue[]): void {
  if (fits(schema, value)) return
  const branches = flat((schema as Shape).anyOf ?? [])
  const alike = branches.filter((branch) => resembles(branch, value))
  const arrays = branches.filter((branch) => Array.isArray(value) && (branch as Shape).type === 'array')
  const meant = alike.length === 0 ? arrays : alike
  const only = meant[0]
  if (only !== undefined && meant.length === 1) return explain(only, value, path, issues)
  const tag = kindOf(value) === 'object' ? tagOf(branches) : null
  if (tag !== null) return explainTag(tag, branches, { value: value as object, path }, issues)
  issues.push({ path, message: complaint(schema, value), expected: expectedBy(schema) })
}

/** Flattens nested unions. */
function flat(branches: readonly TSchema[]): readonly TSchema[] {
  return branches.flatMap((branch: Shape & TSchema) =>
    branch.anyOf === undefined || branch.title !== undefined ? [branch] : flat(branch.anyOf),
  )
}

/**
 * The member that distinguishes the branches of a union of objects; null if no member does. A null branch is
 * ignored, since it is not an object.
 */
function tagOf(branches: readonly TSchema[]): string | null {
  const objects = branches.filter((branch) => (branch as Shape).type === 'object')
  const [first] = objects
  const names = Object.keys((first as Shape | undefined)?.properties ?? {})
  return (
    names.find((name) => objects.every((branch: Shape) => tells(name, branch.properties?.[name]))) ?? null
  )
}

/** A literal distinguishes branches; so does a `type` with a list of values or a pattern. */
function tells(name: string, member: Shape | undefined): boolean {
  if (member === undefined) return false
  return 'const' in member || (name === 'type' && (member.enum !== undefined || member.pattern !== undefined))
}

interface Place {
  readonly value: object
  readonly path: string
}

function explainTag(
  tag: string,
  branches: readonly TSchema[],
  { value, path }: Place,
  issues: Issue[],
): void {
  const tags = branches.flatMap((branch: Shape): readonly Shape[] =>
    branch.properties?.[tag] === undefined ? [] : [branch.properties[tag]],
  )
  const literals = tags.flatMap((member) => ('const' in member ? [member.const] : (member.enum ?? [])))
  const expected = [
    oneOf(literals),
    ...tags.filter((member) => member.pattern !== undefined).map(expectedBy),
  ].join('; ')
  const message = Object.hasOwn(value, tag) ? 'is not one of the allowed values' : 'is required'
  issues.push({ path: below(path, tag), message, expected })
}

/** Whether the value is of the branch's kind, judged by the discriminating literals and the first element only. */
function resembles(schema: TSchema, value: unknown): boolean {
  const shape: Shape = schema
  if (shape.anyOf !== undefined) return shape.anyOf.some((branch) => resembles(branch, value))
  const kind = kindOf(value)
  if (shape.type === 'integer' || shape.type === 'number') return kind === 'number'
  if ('const' in shape) return shape.const === value
  if (shape.enum !== undefined) return shape.enum.includes(value)
  if (shape.type !== kind) return false
  if (Array.isArray(value))
    return value.length === 0 || shape.items === undefined || resembles(shape.items, value[0])
  if (kind !== 'object') return true
  const members = value as Readonly<Record<string, unknown>>
  const telling = Object.entries(shape.properties ?? {}).filter(([name, member]) => tells(name, member))
  return telling.every(([name, member]) =>
    Object.hasOwn(members, name) ? fits(member, members[name]) : shape.required?.includes(name) !== true,
  )
}

function complaint(shape: Shape, value: unknown): string {
  const kind = kindOf(value)
  if (isClosed(shape) || shape.anyOf?.every(isClosed)) return 'is not one of the allowed values'
  if (shape.anyOf !== undefined) return complaintOfUnion(flat(shape.anyOf), kind)
  if (shape.type === undefined) return 'matches none of the allowed forms'
  if (shape.type !== kind && !(kind === 'number' && shape.type === 'integer')) return `is ${kind}`
  if (typeof value === 'string') {
    const { minLength: least = 0, maxLength: most = Infinity } = shape
    // Counts only as many characters as the check needs: a character has at most two units, and a text may be as long as a body.
    const chars = [...value.slice(0, 2 * (Math.max(least, most === Infinity ? 0 : most) + 1))].length
    if (chars < least) return 'is too short'
    return chars > most ? 'is too long' : 'has the wrong form'
  }
  if (typeof value === 'number') {
    if (value < (shape.minimum ?? -Number.MAX_VALUE) || value <= (shape.exclusiveMinimum ?? -Infinity))
      return 'is too small'
    return value > (shape.maximum ?? Number.MAX_VALUE) ? 'is too large' : 'is not a whole number'
  }
  return 'is not valid'
}

/** If no branch accepts values of this kind, the kind is reported: "12" is a string, not a number. */
function complaintOfUnion(branches: readonly TSchema[], kind: string): string {
  const ofKind = branches.filter((branch) => takesKind(branch, kind))
  if (ofKind.length === 0) return `is ${kind}`
  return ofKind.every(isClosed) ? 'is not one of the allowed values' : 'matches none of the allowed forms'
}

function takesKind(shape: Shape, kind: string): boolean {
  if (shape.anyOf !== undefined) return shape.anyOf.some((branch) => takesKind(branch, kind))
  if ('const' in shape) return kindOf(shape.const) === kind
  if (shape.enum !== undefined) return shape.enum.some((value) => kindOf(value) === kind)
  return shape.type === undefined || (shape.type === 'integer' ? 'number' : shape.type) === kind
}

function isClosed(shape: Shape): boolean {
  return shape.enum !== undefined || 'const' in shape
}

function bounds(shape: Shape): string {
  if (shape.minimum !== undefined && shape.maximum !== undefined)
    return ` from ${shape.minimum} to ${shape.maximum}`
  if (shape.minimum !== undefined) return ` of at least ${shape.minimum}`
  if (shape.maximum !== undefined) return ` of at most ${shape.maximum}`
  if (shape.format !== undefined) return ` (${shape.format})`
  if (shape.pattern !== undefined) return ` matching ${shape.pattern}`
  if (shape.maxLength !== undefined) return ` of ${shape.minLength ?? 0} to ${shape.maxLength} characters`
  return shape.minLength === 1 ? ', not empty' : ''
}

function alternatives(branches: readonly TSchema[]): string {
  const literals = branches.filter((branch) => 'const' in branch).map((branch) => (branch as Shape).const)
  const others = branches.filter((branch) => !('const' in branch)).map(expectedBy)
  if (literals.length > 0) others.unshift(oneOf(literals))
  const parts = [...new Set(others)]
  const last = parts.pop() ?? ''
  if (parts.length === 0) return last
  // Parts that contain commas, or more than two parts, are separated by semicolons.
  const isShort = parts.length === 1 && !/[,;]/.test(`${parts[0]}${last}`)
  return isShort ? `${parts[0]} or ${last}` : `${parts.join('; ')}; or ${last}`
}

function oneOf(values: readonly unknown[]): string {
  const words = values.map((value) => JSON.stringify(value))
  return words.length === 1 ? `${words[0]}` : `one of ${words.join(', ')}`
}

function plural(words: string): string {
  return words.replace(/^(?:an? )?(string|integer|number|boolean|object|array|value)\b/, '$1s')
}

function kindOf(value: unknown): string {
  if (value === null) return 'null'
  return Array.isArray(value) ? 'array' : typeof value
}

/** As `pointer`, for a name that a caller chose, which is shortened: a body may be one long name. */
export function below(path: string, name: string | number): string {
  const isShort = typeof name === 'number' || name.length <= PATH_NAME_CHARS_MAX
  return pointer(path, isShort ? name : `${name.slice(0, PATH_NAME_CHARS_MAX)}…`)
}

/** A JSON pointer to a member of the value at `path`, escaped. RFC 6901. */
export function pointer(path: string, member: string | number): string {
  return `${path}/${String(member).replaceAll('~', '~0').replaceAll('/', '~1')}`
}

/** A JSON pointer as OpenAI writes the path of a member: `messages[0].role`; null for the root. */
export function memberPath(path: string): string | null {
  let written = ''
  for (const segment of path.split('/').slice(1)) {
    const name = segment.replaceAll('~1', '/').replaceAll('~0', '~')
    if (/^\d+$/.test(name)) written += `[${name}]`
    else written += written === '' ? name : `.${name}`
  }
  return written === '' ? null : written
}
