import { markedNumber } from '../../schemas/values/long-integers.ts'
import { isObject, type Members } from '../../schemas/values/members.ts'
import { pointerOf, type JsonPath } from '../../schemas/values/json-path.ts'
import { OURS_NAMES } from '../../schemas/inference/text-members.ts'
import type { Dialect } from '../../schemas/inference/text-request.ts'
import {
  isCarried,
  isDefaultValue,
  NESTED_DEFAULTS,
  NESTED_REFUSED,
  otherField,
} from '../table/field-table.ts'
import type { CachePoint, OtherMember } from './prompt.ts'

/** The most names of dropped members reported for one request; all further ones are reported as `*`. Decision. */
export const OTHERS_MAX = 64
/** The most characters of such a name. Decision. */
export const OTHER_NAME_CHARS_MAX = 64
/** Represents all further names. */
export const MORE = '*'
const CACHE_MARK = 'cache_control'
/** The only type of a cache mark that exists. */
const MARK_TYPE = 'ephemeral'

/** Members of a request that the intermediate form does not carry, each name once. */
export class Others {
  readonly #dialect: Dialect
  readonly #dropped = new Map<string, OtherMember>()
  readonly #refused = new Map<string, OtherMember>()

  constructor(dialect: Dialect) {
    this.#dialect = dialect
  }

  get members(): readonly OtherMember[] {
    return [...this.#refused.values(), ...this.#dropped.values()]
  }

  /** Adds all top-level members that the intermediate form does not carry and Sluice does not use. */
  addTop(body: Members): void {
    for (const [name, value] of Object.entries(body)) {
      if (name === CACHE_MARK) this.#addMark(value, [name])
      if (isCarried(this.#dialect, name) || OURS_NAMES.includes(name)) continue
      const field = otherField(this.#dialect, name)
      if (isDefaultValue(value, field?.defaults ?? [])) continue
      if (field?.class === 'refused') this.refuse(name, [name])
      else this.drop(name, [name])
    }
  }

  /** Adds a member, part or tool within the request, by the table's name for its place. */
  add(name: string, path: JsonPath): void {
    if (NESTED_REFUSED.has(name)) this.refuse(name, path)
    else this.drop(name, path)
  }

  /** Adds the members of an object that its reader does not use. @param prefix of their names */
  addRest(object: Members, used: ReadonlySet<string>, { path, prefix = '' }: RestPlace): void {
    for (const name in object) {
      if (name === CACHE_MARK && used.has(name)) this.#addMark(object[name], [...path, name])
      if (used.has(name) || saysNothing(object[name], prefix + name)) continue
      this.add(prefix + name, [...path, name])
    }
  }

  /** Only the place and the lifetime of a mark are carried. */
  #addMark(mark: unknown, path: JsonPath): void {
    if (!isObject(mark)) return this.addUnread(CACHE_MARK, mark, path)
    for (const name in mark) {
      const value = mark[name]
      const isRead = name === 'type' ? value === MARK_TYPE : name === 'ttl' && textOf(value) !== null
      if (!isRead) this.addUnread(`${CACHE_MARK}.${name}`, value, [...path, name])
    }
  }

  /** Adds a known member whose value has an unexpected type. */
  addUnread(name: string, value: unknown, path: JsonPath): void {
    if (!saysNothing(value, name)) this.add(name, path)
  }

  refuse(name: string, path: JsonPath): void {
    if (!this.#refused.has(name)) this.#refused.set(name, { name, path: pointerOf(path) })
  }

  drop(name: string, path: JsonPath): void {
    const shownName = this.#dropped.size < OTHERS_MAX ? headerName(name) : MORE
    if (!this.#dropped.has(shownName))
      this.#dropped.set(shownName, { name: shownName, path: pointerOf(path) })
  }
}

interface RestPlace {
  readonly path: JsonPath
  readonly prefix?: string
}

/** Makes a name safe for a comma-separated header: callers choose the names. */
function headerName(name: string): string {
  return name.slice(0, OTHER_NAME_CHARS_MAX).replace(/[^\w.$-]/g, '_')
}

function saysNothing(value: unknown, name: string): boolean {
  if (value === '' || (Array.isArray(value) && value.length === 0)) return true
  return isDefaultValue(value, Object.hasOwn(NESTED_DEFAULTS, name) ? (NESTED_DEFAULTS[name] ?? []) : [])
}

/** The text of a member; null for a value of another type, which is reported. */
export function textIn(object: Members, name: string, { path, others }: TextPlace): string | null {
  const text = textOf(object[name])
  if (text === null) others.addUnread(name, object[name], [...path, name])
  return text
}

interface TextPlace {
  readonly path: JsonPath
  readonly others: Others
}

/** Null: not a text. */
export function textOf(value: unknown): string | null {
  return typeof value === 'string' ? value : null
}

/** Null: not a number. */
export function numberOf(value: unknown): number | null {
  return typeof value === 'number' ? value : markedNumber(value)
}

/** Null: the value is neither true nor false. */
export function flagOf(value: unknown): boolean | null {
  return typeof value === 'boolean' ? value : null
}

export function cachePointOf(control: unknown): CachePoint | null {
  return isObject(control) ? { ttl: textOf(control['ttl']) } : null
}

/** A cache point as chat and messages write it; empty without one. */
export function cacheControl(cache: CachePoint | null): object {
  if (cache === null) return {}
  return { [CACHE_MARK]: { type: MARK_TYPE, ...(cache.ttl !== null && { ttl: cache.ttl }) } }
}
