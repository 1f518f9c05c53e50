const ALL_OF_AUTHOR = '/*'

/**
 * Whether a key may use a model. Case is ignored, as in ids of models.
 * @param allowed `author/slug`, with all variants of the model, or `author/*`; null = all models
 * @param modelId canonical, with or without a variant's suffix: aliases are resolved before
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

/** Entries that a remark names. Decision. */
const REMARKED_MODELS_MAX = 10

/**
 * A remark on entries of a key's list that allow none of the models; null where each allows one.
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

/** Without the suffix of a variant, in lower case. */
function slugOf(modelId: string): string {
  const id = modelId.toLowerCase()
  const variantAt = id.indexOf(':')
  return variantAt === -1 ? id : id.slice(0, variantAt)
}

function authorOf(slug: string): string {
  return slug.slice(0, Math.max(0, slug.indexOf('/'))) + ALL_OF_AUTHOR
}
