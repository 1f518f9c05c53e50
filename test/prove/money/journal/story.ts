import type { Step, Answer } from './small-front.ts'

/** A row that the ledger may hold for a call; `none` is no row at all. */
export type Allowed = 'none' | `usage ${number}` | `estimated ${number}` | `forfeit ${number}`

interface Call {
  /** Of its last step. */
  kind: Step['what']
  allowed: readonly Allowed[]
  /** When the step that is under way is on disk. */
  after: readonly Allowed[]
}

/**
 * The rows that the ledger may hold for each call of a killed front, by its reports: one of these, or none
 * where that is allowed.
 */
export function allowedRows(reported: readonly Answer[]): ReadonlyMap<string, readonly Allowed[]> {
  const calls = new Map<string, Call>()
  let gathered: Call[] = []
  for (const one of reported) {
    if ('id' in one) gathered.push(begun(one, calls))
    else if (one.what === 'written') {
      for (const call of gathered) call.allowed = call.after
      gathered = []
    } else {
      // What was taken in this turn never was; progress is on disk when the next segment begins with it, or
      // is not; all else waits for the next append.
      for (const call of gathered) if (call.kind === 'take') call.allowed = ['none']
      gathered = gathered.filter(({ kind }) => kind !== 'take' && kind !== 'progress')
    }
  }
  return new Map([...calls].map(([id, { allowed }]) => [id, allowed]))
}

function begun(one: Step, calls: Map<string, Call>): Call {
  if (one.what === 'take') {
    const call: Call = {
      kind: 'take',
      allowed: ['none', `forfeit ${one.nano}`],
      after: [`forfeit ${one.nano}`],
    }
    calls.set(one.id, call)
    return call
  }
  const call = calls.get(one.id)
  if (call === undefined) throw new Error(`${one.id} ended before it began`)
  call.kind = one.what
  call.after = [rowOf(one)]
  call.allowed = [...call.after, ...call.allowed]
  return call
}

function rowOf(one: Step): Allowed {
  if (one.what === 'release') return 'none'
  return one.what === 'progress' ? `estimated ${one.nano}` : `usage ${one.nano}`
}
