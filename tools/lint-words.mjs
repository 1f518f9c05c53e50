// Refuses words in the texts that users read, by the rule that test/contract/words.test.ts runs too.
import { readdirSync } from 'node:fs'
import { compile } from './build.mjs'
import { codeFiles } from './code.mjs'

/** Files that hold the texts, and those of the rule. */
export function filesOfWords() {
  const pages = ['docs/use', 'docs/operate'].flatMap((folder) =>
    readdirSync(folder).map((name) => `${folder}/${name}`),
  )
  return [...codeFiles(['src', 'test/support/words']), ...pages, 'README.md', 'tools/lint-words.mjs']
}

export async function areWordsPlain() {
  await compile('tsconfig.json')
  const { refusedInProduct } = await import('../dist/test/support/words/refused-words.js')
  const found = refusedInProduct()
  for (const line of found) process.stdout.write(`${line}\n`)
  return found.length === 0
}
