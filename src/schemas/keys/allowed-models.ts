const ALL_OF_AUTHOR = '/*'

/**
 * Whether a key may use a model. Case is ignored, as in ids of models.
 * @param allowed `author/slug`, with all variants of the model, or `author/*`; null = all models
 * @param modelId canonical, with or without a variant's suffix: aliases are resolved before
 * Source: Sluice's extension of B2.10.
 */
export function isModelAllowed(allowed: readonly string[] | null, modelId: string): boolean {
  if (allowed === null) return true
  const id = modelId.toLowerCase()
  const variantAt = id.indexOf(':')
  const slug = variantAt === -1 ? id : id.slice(0, variantAt)
  const author = slug.slice(0, Math.max(0, slug.indexOf('/'))) + ALL_OF_AUTHOR
  return allowed.some((entry) => {
    const folded = entry.toLowerCase()
    return folded === slug || folded === author
  })
}
