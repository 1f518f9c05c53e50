// Folders of the repository's own code, for the tools that read all of it.
import { readdirSync } from 'node:fs'
import { join } from 'node:path'

/** As Prettier's command line takes them. */
export const CODE = ['src', 'bench', 'test', 'tools/*.mjs', 'tools/corpus', 'tools/clients', 'tools/peers']

/** Every file of code below these, sorted. */
export function codeFiles(places = CODE) {
  return places.flatMap((place) => filesOf(place)).sort()
}

function filesOf(place) {
  const isFlat = place.endsWith('/*.mjs')
  const folder = isFlat ? place.slice(0, -'/*.mjs'.length) : place
  return readdirSync(folder, { recursive: !isFlat })
    .map((name) => join(folder, name).replaceAll('\\', '/'))
    .filter((path) => /\.(?:tsx?|[cm]?js)$/.test(path) && !path.includes('/node_modules/'))
}
