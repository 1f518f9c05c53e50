import type { TSchema } from 'typebox'
import { Compile } from 'typebox/compile'

/** Compiled at first use: an interpreted check of a 240 KB list blocks for a tenth of a second. */
const CHECKS = new WeakMap<TSchema, (value: unknown) => boolean>()

/** Whether a value matches a part of a shape. */
export function fits(schema: TSchema, value: unknown): boolean {
  let check = CHECKS.get(schema)
  if (check === undefined) {
    const validator = Compile<TSchema>(schema)
    check = (given) => validator.Check(given)
    CHECKS.set(schema, check)
  }
  return check(value)
}
