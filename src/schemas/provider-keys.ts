/** Providers that a workspace may have a key of its own for: those that store files, §4.7. */
export const KEYED_PROVIDERS = ['openai', 'anthropic'] as const
export type KeyedProvider = (typeof KEYED_PROVIDERS)[number]

export function isKeyedProvider(text: string): text is KeyedProvider {
  return (KEYED_PROVIDERS as readonly string[]).includes(text)
}
