/**
 * Scopes of an inference or intern key. C34. `vault:use` permits the egress route and private endpoints,
 * which release secrets to their hosts; no scope permits reading a secret.
 */
export const KEY_SCOPES = [
  'inference',
  'files:read',
  'files:write',
  'vault:use',
  'vault:write',
  'videos',
  'presets:write',
] as const
export type KeyScope = (typeof KEY_SCOPES)[number]

/**
 * Text of the reference and the command line about a scope without an operation that inference or intern keys
 * may call. C34.
 */
export const RESERVED_SCOPE_TEXT =
  'presets:write is reserved: no operation uses it yet, because only management keys can write presets'

/**
 * Whether a key has one of the needed scopes.
 * @param scopes of a key; null = all
 * @param needed empty: every key may
 */
export function hasScope(scopes: readonly KeyScope[] | null, needed: readonly KeyScope[]): boolean {
  return scopes === null || needed.length === 0 || needed.some((scope) => scopes.includes(scope))
}

export function isKeyScope(text: string): text is KeyScope {
  return KEY_SCOPES.some((scope) => scope === text)
}

/** The scopes as messages and the reference show them. */
export function scopesText(scopes: readonly KeyScope[]): string {
  return scopes.map((scope) => `\`${scope}\``).join(' or ')
}
