/** Calls that name a file, by the form of their caller and the protocol of their provider. */
import type { Dialect } from '../../../../src/schemas/inference/text-request.ts'
import { DIALECT_PATHS, TRANSLATED_PAIRS } from '../../../support/inference/forms-facts.ts'
import type { Stand } from '../../../support/nodes/stand.ts'
import type { TextProtocol } from '../../../../src/schemas/models/protocols.ts'

export interface FilePair {
  readonly dialect: Dialect
  readonly protocol: TextProtocol
}

/** The translated ones: nine. */
export const FILE_PAIRS: readonly FilePair[] = TRANSLATED_PAIRS.map(([dialect, protocol]) => ({
  dialect,
  protocol,
}))

const PARTS: Readonly<Record<Dialect, (id: string) => object>> = {
  chat: (id) => ({ type: 'file', file: { file_id: id, filename: 'a.pdf' } }),
  responses: (id) => ({ type: 'input_file', file_id: id, filename: 'a.pdf' }),
  messages: (id) => ({ type: 'document', title: 'a.pdf', source: { type: 'file', file_id: id } }),
}

/** @returns the status */
export async function callWithFile(
  { port, keys }: Pick<Stand, 'port' | 'keys'>,
  { dialect, protocol }: FilePair,
  { id, key = keys.inference_key }: { readonly id: string; readonly key?: string },
): Promise<number> {
  const turns = [{ role: 'user', content: [PARTS[dialect](id)] }]
  const response = await fetch(`http://127.0.0.1:${port}/api/v1${DIALECT_PATHS[dialect]}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      model: `files/${protocol}`,
      // The order of the endpoints is that of the catalogue.
      provider: { order: [`${protocol}-1`, `${protocol}-2`] },
      ...(dialect === 'responses' ? { input: turns } : { max_tokens: 9, messages: turns }),
    }),
  })
  await response.arrayBuffer()
  return response.status
}
