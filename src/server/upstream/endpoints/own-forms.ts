import { ENDPOINT_FORMS, type EndpointForm } from '../../../schemas/endpoints/private-endpoints.ts'
import type { Protocol } from '../../../schemas/models/protocols.ts'

/** The forms that a server of a protocol may have: many servers that copy OpenAI's protocol have Anthropic's messages too. */
const FORMS: Readonly<Record<Protocol, readonly EndpointForm[]>> = {
  openai: ENDPOINT_FORMS,
  anthropic: ['messages'],
  cohere: ['embeddings'],
  google: ['embeddings'],
  local: [],
}

/** Empty: no workspace can have such an endpoint. */
export function formsOf({ protocol }: { readonly protocol: Protocol }): readonly EndpointForm[] {
  return FORMS[protocol]
}
