import type { Failure, FailureName } from '../failures.ts'

/** The reason of a call's aborted signal. */
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

/** The failure for an aborted signal; any other reason means that the client disconnected. */
export function endedBy({ reason }: AbortSignal): Failure {
  return { name: reason instanceof CallEnded ? FAILURE_OF[reason.why] : 'client_gone' }
}
