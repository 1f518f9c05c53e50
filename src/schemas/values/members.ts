/** Members of a JSON value whose shape is not known. */
import { below } from '../issues.ts'
export type Members = Readonly<Record<string, unknown>>

/** False also for a list. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Null: the value is a list, or no object. */
export function objectOf(value: unknown): Record<string, unknown> | null {
  return isObject(value) ? value : null
}

/** Without members where the value is a list, or no object. */
export function membersOf(value: unknown): Members {
  return isObject(value) ? value : {}
}

/** The way from a value of JSON to one within it: names of members, and indices of elements. */
export type JsonPath = readonly (string | number)[]

/** The path as a JSON pointer, in which long names of callers are cut. */
export function pointerOf(path: JsonPath): string {
  return path.reduce<string>(below, '')
}
