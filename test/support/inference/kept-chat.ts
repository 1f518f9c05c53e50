import type { Dialect, TextInput } from '../../../src/schemas/inference/text-request.ts'
import { keptFormOf } from '../../../src/schemas/bodies.ts'
import { KeptBody } from '../../../src/schemas/kept-body.ts'
import { arePlain } from '../../../src/server/upstream/inference/inline/sent-body.ts'
import type { ProviderRequest } from '../../../src/server/upstream/inference/protocol.ts'
import { readBody } from '../../../src/workers/read-body.ts'

export interface KeptChat {
  readonly digest: TextInput
  readonly body: KeptBody
}

/** Reads the body of a call as a front does. Throws the failure of a body that is refused. */
export function keptChat(
  text: string | Uint8Array,
  {
    dialect = 'chat',
    isOnLoop = false,
    released = () => undefined,
  }: { readonly dialect?: Dialect; readonly isOnLoop?: boolean; readonly released?: () => void } = {},
): KeptChat {
  const bytes = typeof text === 'string' ? Uint8Array.from(Buffer.from(text)) : text
  const verdict = readBody({ body: dialect, bytes, isOnLoop })
  if (!verdict.ok || verdict.source === undefined)
    throw new Error(`refused: ${JSON.stringify(verdict)} ${Buffer.from(bytes.subarray(0, 500)).toString()}`)
  const { places } = verdict.source
  const { names } = keptFormOf(dialect)
  return {
    digest: verdict.value as unknown as TextInput,
    body: new KeptBody(verdict.source.bytes, places, { names, released }),
  }
}

/** The bytes of a request without files. */
export function bytesOf(pieces: ProviderRequest['body']): Buffer {
  if (!arePlain(pieces)) throw new Error('the request has files')
  return Buffer.concat(pieces)
}
