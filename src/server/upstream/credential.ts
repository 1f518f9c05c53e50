/** A key of the operator. Its text is read once, at the first use of an endpoint. */
export interface Credential {
  reveal(): string
}

/** The name and value of the header in which a protocol carries the key. */
export type CredentialHeader = (key: string) => readonly [string, string]

/** The header of the protocols of OpenAI and Cohere. */
export const bearer: CredentialHeader = (key) => ['authorization', `Bearer ${key}`]

/** Anthropic's own header. */
export const anthropicKey: CredentialHeader = (key) => ['x-api-key', key]

/** Google's own header. The key never travels in the address, which logs would keep. */
export const googleKey: CredentialHeader = (key) => ['x-goog-api-key', key]
