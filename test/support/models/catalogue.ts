import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { loadCatalogue, type CatalogueResult } from '../../../src/server/catalogue/load.ts'
import type { ModelCatalogue } from '../../../src/server/ports/models/models.ts'
import { temporaryFolder } from '../temporary-folder.ts'

interface Test {
  teardown(run: () => void): void
}

/** Writes a catalogue file (or any text) into a folder of its own that goes when the test ends. */
export function catalogueFile(t: Test, content: unknown): string {
  const folder = temporaryFolder(t, 'catalogue')
  const file = join(folder, 'catalog.json')
  writeFileSync(file, typeof content === 'string' ? content : JSON.stringify(content))
  return file
}

export function loadFiles(t: Test, shipped: unknown, extra?: unknown): CatalogueResult {
  return loadCatalogue({
    shippedFile: catalogueFile(t, shipped),
    extraFile: extra === undefined ? null : catalogueFile(t, extra),
  })
}

/**
 * The catalogue of one document, or of one and another that extends it; throws with the problems when it has
 * any.
 */
export function catalogueOf(
  t: Test,
  document: unknown,
  more: { extra?: unknown; now?: number } = {},
): ModelCatalogue {
  const loaded = loadCatalogue({
    shippedFile: catalogueFile(t, document),
    extraFile: more.extra === undefined ? null : catalogueFile(t, more.extra),
    now: () => more.now ?? 0,
  })
  if (!loaded.ok) throw new Error(JSON.stringify(loaded.problems))
  return loaded.catalogue
}
