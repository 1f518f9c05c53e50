import { fileURLToPath } from 'node:url'

/** The catalogue that ships with the product, next to its package.json. */
export const SHIPPED_CATALOGUE = fileURLToPath(new URL('../../../../catalog.json', import.meta.url))
