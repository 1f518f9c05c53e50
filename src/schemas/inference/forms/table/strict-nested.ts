/** Members within requests that a strict provider does not get. D4. */
import { RESPONSES_STRICT_CUT_BY_TYPE } from '../../responses-members.ts'
import { STRICT_CUT_BY_ROLE, STRICT_CUT_INSIDE } from '../../strict-members.ts'
import type { Dialect } from '../../text-request.ts'
import type { TextProtocol } from '../../../models/text-models.ts'
import type { NestedObject, NestedPlace } from '../../../../dialects/table/nested-table.ts'

const BY_TYPE: Readonly<Partial<Record<TextProtocol, Readonly<Record<string, readonly string[]>>>>> = {
  chat: STRICT_CUT_BY_ROLE,
  responses: RESPONSES_STRICT_CUT_BY_TYPE,
}

/** An object of the table. */
export interface At {
  readonly dialect: Dialect
  readonly place: NestedPlace
  readonly type: string
}

/** Members of an object that strict providers of its own form do not get. */
export function ownCutIn({ dialect, place, type }: At): readonly string[] {
  const byType = place === 'turns' ? BY_TYPE[dialect] : undefined
  return byType !== undefined && Object.hasOwn(byType, type) ? (byType[type] ?? []) : []
}

/** Members of an object that providers of a protocol do not get where they know its maker's members alone. */
export function strictCutIn(at: At, protocol: TextProtocol, { carried }: NestedObject): readonly string[] {
  if (BY_TYPE[protocol] === undefined) return []
  const marks = STRICT_CUT_INSIDE.filter((name) => carried.includes(name))
  return [...marks, ...(at.dialect === protocol ? ownCutIn(at) : [])]
}
