import { SLUG_CHARS_MAX } from './limits.ts'

/** B2.9. */
const SLUG_SHAPE = /^[a-z0-9]+(?:-[a-z0-9]+)*$/

export function isSlug(text: string): boolean {
  return text.length <= SLUG_CHARS_MAX && SLUG_SHAPE.test(text)
}
