/** `sluice env`: lines that a shell runs. */
import { spawnSync } from 'node:child_process'
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { assignment, SHELLS } from '../../../../src/server/cli/operator/env.ts'
import { plainEnvironment } from '../../../support/load/load.ts'
import { openFolder } from '../../../support/files/storage.ts'
import type { Settings } from '../../../support/nodes/node.ts'
import { runVerb } from '../../../support/operator/verbs.ts'
import { ROOT } from '../../../support/source.ts'

t.setTimeout(120_000)

const FIRST = { inference_key: 'sk-sluice-v1-first', management_key: 'sk-sluice-mgmt-v1-first' }

/** Settings of a data directory with first keys, where no node runs. */
async function stand(t: Test, keys: object = FIRST): Promise<Settings> {
  const dataDir = join(await openFolder(t), 'data')
  mkdirSync(dataDir, { mode: 0o700 })
  writeFileSync(join(dataDir, 'first-keys.json'), JSON.stringify(keys), { mode: 0o600 })
  return { SLUICE_DATA: dataDir, SLUICE_PORT: '8123' }
}

/** The value that a shell gives a variable which it reads from a line. */
function valueIn(shell: string, text: string): string {
  const script = `${assignment('sh', { name: 'X', text })}\nprintf %s "$X"`
  return spawnSync(shell, ['-c', script], { encoding: 'utf8' }).stdout
}

const HOSTILE = [
  "it's",
  '$(touch owned)',
  '`id`',
  '"; exit 1; "',
  '\\',
  "'\\''; id; '",
  '$HOME ${HOME} %PATH%',
  'a\nb',
  '!!',
  '\u2019; id; \u2018',
]

for (const shell of ['sh', 'bash', 'dash'])
  t.test(`${shell} reads every text back unchanged`, (t) => {
    for (const text of HOSTILE) t.equal(valueIn(shell, text), text, JSON.stringify(text))
    t.end()
  })

t.test('no text can end its quotation in fish or PowerShell', (t) => {
  for (const text of HOSTILE) {
    const fish = assignment('fish', { name: 'X', text })
    t.match(fish, /^set -gx X '(?:[^'\\]|\\['\\])*'$/, JSON.stringify(text))
    t.equal(fish.slice("set -gx X '".length, -1).replaceAll(/\\(['\\])/g, '$1'), text)
    const power = assignment('powershell', { name: 'X', text })
    t.match(power, /^\$env:X = '(?:[^'\u2018-\u201b]|(['\u2018-\u201b])\1)*'$/, JSON.stringify(text))
    t.equal(power.slice("$env:X = '".length, -1).replaceAll(/(['\u2018-\u201b])\1/g, '$1'), text)
  }
  t.end()
})

t.test('without --with-key, neither the shell output nor the JSON contains the key', async (t) => {
  const settings = await stand(t)
  for (const args of [...SHELLS.map((shell) => ['--shell', shell]), ['--json']]) {
    const { code, stdout, stderr } = await runVerb(settings, ['env', ...args])
    t.equal(code, 0, stderr)
    t.notMatch(stdout, 'sk-sluice')
  }
  const given = await runVerb({ ...settings, SLUICE_KEY: 'sk-sluice-v1-mine' }, ['env'])
  t.notMatch(given.stdout, 'sk-sluice')
  t.match(given.stdout, 'export OPENAI_API_KEY="$SLUICE_KEY"')
})

t.test('warns on standard error that a node would use the variables as its provider keys', async (t) => {
  const settings = await stand(t)
  const warned = await runVerb(settings, ['env'])
  t.equal(
    warned.stderr,
    'note: do not start a node in a shell with these variables. A node reads OPENAI_API_KEY and OPENROUTER_API_KEY as ' +
      'its provider keys and does not accept Sluice keys there.\n',
  )
  for (const args of [['--json'], ['--for', 'anthropic']])
    t.equal((await runVerb(settings, ['env', ...args])).stderr, '')
})

t.test('never uses a management key as an inference key', async (t) => {
  const settings = await stand(t, { management_key: FIRST.management_key })
  const { code, stdout, stderr } = await runVerb(settings, ['env', '--with-key'])
  t.same([code, stdout], [1, ''])
  t.match(stderr, /contains no inference key/)
  t.notMatch(stderr, FIRST.management_key)
})

t.test('the key comes from the named file, then SLUICE_KEY, then the first keys', async (t) => {
  const settings = await stand(t)
  const file = join(await openFolder(t), 'key')
  writeFileSync(file, 'sk-from-file\n', { mode: 0o600 })
  chmodSync(file, 0o600)
  const keyOf = async (own: Settings, ...args: readonly string[]): Promise<string | undefined> =>
    /^export SLUICE_KEY='(.*)'$/m.exec(
      (await runVerb({ ...settings, ...own }, ['env', '--with-key', ...args])).stdout,
    )?.[1]
  t.equal(await keyOf({}), FIRST.inference_key)
  t.equal(await keyOf({ SLUICE_KEY: 'sk-mine' }), 'sk-mine')
  t.equal(await keyOf({ SLUICE_KEY: 'sk-mine' }, '--key-file', file), 'sk-from-file')
  t.match(await runVerb(settings, ['env', '--key-file', file]), { code: 2, stderr: /requires --with-key/ })
})

t.test('a shell that evaluates the output of the program gets the variables of every client', async (t) => {
  const settings = await stand(t)
  const script = `eval "$('${process.execPath}' bin/sluice env --with-key)" && env`
  const { stdout, stderr } = spawnSync('sh', ['-c', script], {
    encoding: 'utf8',
    cwd: ROOT,
    env: { ...plainEnvironment(), ...settings },
  })
  const seen = new Map(stdout.split('\n').map((line) => line.split(/=(.*)/).slice(0, 2) as [string, string]))
  const origin = 'http://127.0.0.1:8123'
  t.match(
    Object.fromEntries(seen),
    {
      OPENAI_BASE_URL: `${origin}/api/v1`,
      OPENAI_API_KEY: FIRST.inference_key,
      ANTHROPIC_BASE_URL: `${origin}/api`,
      ANTHROPIC_AUTH_TOKEN: FIRST.inference_key,
      OPENROUTER_BASE_URL: `${origin}/api/v1`,
      OPENROUTER_API_KEY: FIRST.inference_key,
    },
    stderr,
  )
})

t.test('--for chooses clients, and SLUICE_PUBLIC_URL is the address for all of them', async (t) => {
  const settings = { ...(await stand(t)), SLUICE_PUBLIC_URL: 'https://ai.acme.example' }
  const { stdout } = await runVerb(settings, ['env', '--for', 'anthropic', '--json'])
  t.same(JSON.parse(stdout), {
    base_url: 'https://ai.acme.example/api/v1',
    variables: { ANTHROPIC_BASE_URL: 'https://ai.acme.example/api', ANTHROPIC_AUTH_TOKEN: null },
  })
  t.match(await runVerb(settings, ['env', '--for', 'opnai']), { code: 2, stderr: /Allowed choices are/ })
})
