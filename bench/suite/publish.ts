/** Writes the figures of a saved run into the pages of the repository. */
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { figuresPage, withChart } from '../report/published.ts'
import { readResults } from './shape.ts'

export type Published = { readonly written: readonly string[] } | { readonly problem: string }

/** @param root folder of the repository */
export async function publishFigures(file: string, root: string): Promise<Published> {
  const read = readResults(file)
  if ('problem' in read) return read
  const [page, readme] = [join(root, 'docs/operate/figures.md'), join(root, 'README.md')]
  const charted = withChart(await readFile(readme, 'utf8'), read.value)
  if (charted === null) return { problem: `${readme} has no place for a chart` }
  await writeFile(page, figuresPage(read.value))
  await writeFile(readme, charted)
  return { written: [page, readme] }
}
