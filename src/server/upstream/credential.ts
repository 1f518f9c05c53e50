/** A key of ours: its text is asked for once, when an endpoint is first used. */
export interface Credential {
  reveal(): string
}

/** How a protocol carries our key: a header's name and value. */
export type CredentialHeader = (key: string) => readonly [string, string]

/** Of OpenAI's protocol, and of Cohere's. */
export const bearer: CredentialHeader = (key) => ['authorization', `Bearer ${key}`]
