import type { Failure } from '../../schemas/failures.ts'
import type { FromThread } from './protocol.ts'

/** The failure of a session. @param failureOf the failure for an error of a system call */
export function failureOfLast(message: FromThread, failureOf: (cause: unknown) => Failure): Failure {
  if (message.kind === 'system')
    return failureOf(Object.assign(new Error(message.message), { code: message.code }))
  if (message.kind !== 'failed')
    return { name: 'internal', cause: new Error(`a session sent ${message.kind} out of order`) }
  const { name, fields, cause } = message
  return { name, fields, ...(cause === '' ? {} : { cause: new Error(cause) }) }
}
