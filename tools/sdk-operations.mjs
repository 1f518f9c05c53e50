// Prints what becomes of each operation of `@openrouter/sdk`, and makes docs/use/openrouter-sdk.md of it:
// `node tools/sdk-operations.mjs`.
import { writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { compile } from './build.mjs'

process.chdir(fileURLToPath(new URL('..', import.meta.url)))
await compile('tsconfig.json')
const { CLIENT_PAGE, clientPage, standingOperations } =
  await import('../dist/test/support/wire/client-page.js')
const all = await standingOperations()
for (const { call, method, path, standing } of all) {
  const { kind, operation = '', why, instead } = standing
  console.log(
    [kind.padEnd(14), `${method} ${path}`.padEnd(58), call.padEnd(44), why ?? instead ?? operation].join(' '),
  )
}
const answered = all.filter(({ standing }) => standing.kind === 'answered').length
console.log(`${answered} of ${all.length} answered`)
writeFileSync(CLIENT_PAGE, await clientPage())
