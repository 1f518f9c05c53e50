import t from 'tap'
import { spawnSync } from 'node:child_process'
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { openApiOf } from '../../src/server/http/reference/openapi.ts'
import { OPERATIONS } from '../../src/server/operations/index.ts'
import { plainEnvironment } from '../support/load/load.ts'
import { ROOT } from '../support/source.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const LINTER = `${ROOT}tools/node_modules/@redocly/cli/bin/cli.js`
const skip = existsSync(LINTER) ? false : 'the linter is not installed: `npm run lint` installs it'

interface Report {
  readonly totals: { readonly errors: number; readonly warnings: number }
  readonly problems: readonly { readonly ruleId: string; readonly message: string }[]
}

t.test('the OpenAPI document passes a 3.1 linter', { skip }, async (t) => {
  t.same(lint(openApiOf(OPERATIONS)).totals.errors, 0)
})

t.test('the linter finds a declared parameter that the path does not have', { skip }, async (t) => {
  const document = structuredClone(JSON.parse(JSON.stringify(openApiOf(OPERATIONS)))) as {
    paths: Record<string, unknown>
  }
  const [path = '', item] = Object.entries(document.paths).find(([name]) => name.includes('{slug}')) ?? []
  const paths = { [path.replace('{slug}', 'slug')]: item }
  t.ok(lint({ ...document, paths }).totals.errors > 0)
})

function lint(document: unknown): Report {
  const folder = temporaryFolder(t, 'openapi')
  const file = join(folder, 'openapi.json')
  writeFileSync(file, JSON.stringify(document))
  const args = [LINTER, 'lint', file, '--config', `${ROOT}tools/redocly.yaml`, '--format', 'json']
  const env = { ...plainEnvironment(), REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' }
  const { stdout } = spawnSync(process.execPath, args, { encoding: 'utf8', env, cwd: folder })
  return JSON.parse(stdout.slice(stdout.indexOf('{'))) as Report
}
