import type { Protocol } from '../../schemas/models/protocols.ts'

/** A key of the operator. Its text is read once, at the first use of an endpoint. */
export interface Credential {
  reveal(): string
}

/** The name and value of the header in which a protocol carries the key. */
export type CredentialHeader = (key: string) => readonly [string, string]

export const bearer: CredentialHeader = (key) => ['authorization', `Bearer ${key}`]

const HEADERS: Readonly<Record<Protocol, CredentialHeader>> = {
  openai: bearer,
  cohere: bearer,
  // The key never travels in the address, which logs would keep.
  google: (key) => ['x-goog-api-key', key],
  anthropic: (key) => ['x-api-key', key],
  local: bearer,
}

/** The header of a protocol, unless the catalogue names another one for the provider. */
export function headerOf(protocol: Protocol): CredentialHeader {
  return HEADERS[protocol]
}
