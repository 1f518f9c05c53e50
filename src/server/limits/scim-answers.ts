import { SCIM_ANSWERS_BYTES_MAX } from '../../schemas/scim/scim-limits.ts'
import type { ScimAnswers } from '../ports/scim/scim.ts'

/**
 * Counts the bytes of answers that each organization has requested and not read: without it a few slow readers
 * of large groups could fill the memory of a front.
 */
export function openScimAnswers(bytesMax = SCIM_ANSWERS_BYTES_MAX): ScimAnswers {
  const held = new Map<string, number>()
  return {
    hold(organizationId, bytes) {
      const before = held.get(organizationId) ?? 0
      // The first answer is always admitted: otherwise a group of that size could never be read.
      if (before > 0 && before + bytes > bytesMax) return null
      held.set(organizationId, before + bytes)
      return () => {
        const left = (held.get(organizationId) ?? 0) - bytes
        if (left > 0) held.set(organizationId, left)
        else held.delete(organizationId)
      }
    },
  }
}
