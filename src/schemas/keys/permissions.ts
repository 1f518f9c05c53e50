/**
 * Scopes of an inference or intern key. `vault:use` permits the egress route and private endpoints, which
 * release secrets to their hosts; no scope permits reading a secret.
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

/** Text in the reference and the command line for a scope that is not needed by any operation of inference or intern keys. */
export const RESERVED_SCOPE_TEXT =
  'presets:write is reserved: no operation uses it yet, because only management keys can write presets'

/** Whether a key has one of the needed scopes. @param scopes of a key; null = all @param needed empty: every key may */
export function hasScope(scopes: readonly KeyScope[] | null, needed: readonly KeyScope[]): boolean {
  return scopes === null || needed.length === 0 || needed.some((scope) => scopes.includes(scope))
}

/** The scopes as messages and the reference show them. */
export function scopesText(scopes: readonly KeyScope[]): string {
  return scopes.map((scope) => `\`${scope}\``).join(' or ')
}

const ALL_OF_AUTHOR = '/*'

/**
 * Whether a key may use a model. Case is ignored, as in ids of models.
 * @param allowed `author/slug`, with all variants of the model, or `author/*`; null = all models
 * @param modelId canonical, with or without a variant's suffix; the caller has resolved aliases
 * Source: Sluice's extension of B2.10.
 */
export function isModelAllowed(allowed: readonly string[] | null, modelId: string): boolean {
  if (allowed === null) return true
  const slug = slugOf(modelId)
  const author = authorOf(slug)
  return allowed.some((entry) => {
    const folded = entry.toLowerCase()
    return folded === slug || folded === author
  })
}

/** The most entries that a remark lists. Decision. */
const REMARKED_MODELS_MAX = 10

/**
 * A remark on entries of a key's list that match none of the models; null if each entry matches one.
 * @param ids of the catalogue, canonical
 */
export function modelsRemark(
  allowed: readonly string[] | null | undefined,
  ids: Iterable<string>,
): string | null {
  const left = new Map((allowed ?? []).map((entry) => [entry.toLowerCase(), entry]))
  for (const id of ids) {
    if (left.size === 0) return null
    const slug = slugOf(id)
    left.delete(slug)
    left.delete(authorOf(slug))
  }
  if (left.size === 0) return null
  const names = [...left.values()].slice(0, REMARKED_MODELS_MAX).join(', ')
  return `no model in the catalogue matches ${names} (models of private endpoints are not checked)`
}

/** The id without a variant's suffix, in lower case. */
function slugOf(modelId: string): string {
  const id = modelId.toLowerCase()
  const variantAt = id.indexOf(':')
  return variantAt === -1 ? id : id.slice(0, variantAt)
}

function authorOf(slug: string): string {
  return slug.slice(0, Math.max(0, slug.indexOf('/'))) + ALL_OF_AUTHOR
}
