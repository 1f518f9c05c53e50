import { BRIEF_SECRETS_BYTES_MAX } from '../schemas/limits/json-limits.ts'
import { bytesOf } from '../schemas/values/pieces.ts'
import type { ShortJobName, ShortJobTypes } from '../server/ports/short-jobs.ts'

type IsBrief<N extends ShortJobName> = (input: ShortJobTypes[N]['in']) => boolean

/** Jobs that may take less than a millisecond, apart from the tasks: who queues them loads no task. */
const BRIEF: { readonly [N in ShortJobName]?: IsBrief<N> } = {
  // At most ECHO_UNITS_MAX of text.
  echo: () => true,
  seal_secrets: ({ secrets }) => areBrief(secrets.map(({ value }) => value)),
  open_secret: ({ sealed }) => areBrief([sealed]),
  copy_secrets: ({ from }) => areBrief(from.map(({ sealed }) => sealed)),
}

/** Returns whether a job takes less than a millisecond. */
export function isBriefJob<N extends ShortJobName>(name: N, input: ShortJobTypes[N]['in']): boolean {
  const isBrief: IsBrief<N> | undefined = BRIEF[name]
  return isBrief?.(input) === true
}

function areBrief(values: readonly Uint8Array[]): boolean {
  return bytesOf(values) <= BRIEF_SECRETS_BYTES_MAX
}
