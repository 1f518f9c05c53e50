import type { Failure, FailureName } from '../failures.ts'

/** Why a call's signal was aborted: its `reason`. */
export class CallEnded extends Error {
  readonly why: 'client_gone' | 'deadline' | 'drain'
  constructor(why: CallEnded['why']) {
    super(why)
    this.why = why
  }
}

const FAILURE_OF: Readonly<Record<CallEnded['why'], FailureName>> = {
  client_gone: 'client_gone',
  deadline: 'deadline_exceeded',
  drain: 'draining',
}

/** The failure that an aborted signal stands for; one with another reason is that of a caller who left. */
export function endedBy({ reason }: AbortSignal): Failure {
  return { name: reason instanceof CallEnded ? FAILURE_OF[reason.why] : 'client_gone' }
}
