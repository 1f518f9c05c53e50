/** Calls of the management API with the first management key of a stand. */
import { served } from '../wire/served.ts'
import type { Stand } from './stand.ts'

/**
 * To start the command line costs as much as a thousand calls. Each call has a connection of its own: one that
 * a killed front reset would be used again. @returns the body; throws when the call is refused
 */
export async function manage(
  { port, keys }: Pick<Stand, 'port' | 'keys'>,
  method: string,
  path: string,
  body?: object,
): Promise<Record<string, unknown>> {
  const { status, text } = await served(async () => {
    const answer = await fetch(`http://127.0.0.1:${port}/api/v1${path}`, {
      method,
      headers: {
        authorization: `Bearer ${keys.management_key}`,
        'content-type': 'application/json',
        connection: 'close',
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    return { status: answer.status, text: await answer.text() }
  })
  if (status < 200 || status > 299) throw new Error(`${method} ${path}: ${status} ${text}`)
  return JSON.parse(text) as Record<string, unknown>
}
