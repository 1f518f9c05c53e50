import { KEY_HEADERS, type Protocol } from '../../schemas/models/protocols.ts'

/** A key of the operator. Its text is read only once, when an endpoint first uses it. */
export interface Credential {
  reveal(): string
}

/** The name and value of the header in which a protocol carries the key. */
export type CredentialHeader = (key: string) => readonly [string, string]

export const bearer: CredentialHeader = (key) => ['authorization', `Bearer ${key}`]

export function keyIn(name: string): CredentialHeader {
  return name === 'authorization' ? bearer : (key) => [name, key]
}

/** The header of a protocol, unless the catalogue names another one for the provider. */
export function headerOf(protocol: Protocol): CredentialHeader {
  return keyIn(KEY_HEADERS[protocol])
}
