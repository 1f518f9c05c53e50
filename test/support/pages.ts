/**
 * The pages that users read: the README, and the pages of docs/use and docs/operate that its contents name.
 */
import { readFileSync, readdirSync } from 'node:fs'
import { ROOT } from './source.ts'

export interface Page {
  /** From the root of the repository. */
  readonly path: string
  readonly text: string
}

const read = (path: string): Page => ({ path, text: readFileSync(`${ROOT}${path}`, 'utf8') })

export const README = read('README.md')

/** Links of the contents, in their order: the order in which a reader goes on. */
export const CONTENTS: readonly string[] = [
  ...README.text.slice(README.text.indexOf('\n## Documentation\n')).matchAll(/\]\(([\w/-]+\.md)\)/g),
].map(([, path = '']) => path)

/** In the order of the contents. Blocks are run in this order. */
export const USER_PAGES: readonly Page[] = [
  README,
  ...CONTENTS.filter((path) => /^docs\/(?:use|operate)\//.test(path)).map(read),
]

/** All of them, as one text. */
export const USER_TEXT = USER_PAGES.map(({ text }) => text).join('\n')

/** Paths of the pages that are in the folders of pages for users. */
export function userFiles(): readonly string[] {
  return ['docs/use', 'docs/operate'].flatMap((folder) =>
    readdirSync(`${ROOT}${folder}`).map((name) => `${folder}/${name}`),
  )
}
