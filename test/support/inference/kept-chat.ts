import type { TextInput } from '../../../src/schemas/inference/text-request.ts'
import { BODIES } from '../../../src/schemas/bodies.ts'
import { KeptBody } from '../../../src/schemas/kept-body.ts'
import { readBody } from '../../../src/workers/read-body.ts'

export interface KeptChat {
  readonly digest: TextInput
  readonly body: KeptBody
}

/** Reads the body of a chat as a front does. Throws the failure of a body that is refused. */
export function keptChat(
  text: string | Uint8Array,
  {
    isOnLoop = false,
    released = () => undefined,
  }: { readonly isOnLoop?: boolean; readonly released?: () => void } = {},
): KeptChat {
  const bytes = typeof text === 'string' ? Uint8Array.from(Buffer.from(text)) : text
  const verdict = readBody({ body: 'chat', bytes, isOnLoop })
  if (!verdict.ok || verdict.source === undefined)
    throw new Error(`refused: ${JSON.stringify(verdict)} ${Buffer.from(bytes.subarray(0, 500)).toString()}`)
  const { places } = verdict.source
  const { names } = BODIES.chat.keeps
  return {
    digest: verdict.value as unknown as TextInput,
    body: new KeptBody(verdict.source.bytes, places, { names, released }),
  }
}
