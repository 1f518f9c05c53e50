import type { Caller } from '../../../src/schemas/values/callers.ts'

/** The only key of the only workspace of an organization. */
export function callerBy(name: string): Caller {
  return { organizationId: name, workspaceId: name, key: name }
}
