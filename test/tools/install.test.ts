import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import t from 'tap'
import { runToEnd } from '../support/nodes/node.ts'
import { ROOT } from '../support/source.ts'

const TOOLS = pathToFileURL(`${ROOT}tools/`).href

/** What a stream is shown of something that is looked at once and then ends. */
async function shown(isTTY: boolean): Promise<string> {
  const { showProgress } = (await import(`${TOOLS}progress.mjs`)) as {
    showProgress(
      what: string,
      howFar: () => string,
      options: { stream: { isTTY: boolean; write(text: string): void } },
    ): () => void
  }
  let [text, looks] = ['', 0]
  const write = (more: string): void => {
    text += more
  }
  const stop = showProgress('installing', () => `${++looks} of 2 packages`, { stream: { isTTY, write } })
  stop()
  return text
}

t.test('without a terminal, each progress update is a line, including the last one', async (t) => {
  t.equal(await shown(false), 'installing: 1 of 2 packages, 0 s\ninstalling: 2 of 2 packages, 0 s\n')
})

t.test('on a terminal the progress rewrites its line, and leaves it whole', async (t) => {
  t.equal(
    await shown(true),
    '\r\x1b[Kinstalling: 1 of 2 packages, 0 s\r\x1b[Kinstalling: 2 of 2 packages, 0 s\n',
  )
})

t.test('a progress without change for 20 s says what to check', async (t) => {
  const { progressLine } = (await import(`${TOOLS}progress.mjs`)) as {
    progressLine(facts: {
      what: string
      far: string
      seconds: number
      quietSeconds: number
      hint?: string
    }): string
  }
  const facts = { what: 'installing', far: '1 of 2 packages', seconds: 30, hint: 'check the network' }
  t.equal(progressLine({ ...facts, quietSeconds: 19 }), 'installing: 1 of 2 packages, 30 s')
  t.equal(
    progressLine({ ...facts, quietSeconds: 20 }),
    'installing: 1 of 2 packages, 30 s; nothing new for 20 s: check the network',
  )
})

t.test('the first line of work in steps names the first step', async (t) => {
  const { showSteps } = (await import(`${TOOLS}progress.mjs`)) as {
    showSteps(
      what: string,
      run: (tell: (step: string) => void) => Promise<void>,
      stream: { isTTY: boolean; write(text: string): void },
    ): Promise<void>
  }
  let text = ''
  const run = async (tell: (step: string) => void): Promise<void> => {
    tell('compiling')
    await Promise.resolve()
    tell('joining')
  }
  await showSteps('building', run, {
    isTTY: false,
    write: (more) => {
      text += more
    },
  })
  t.equal(text, 'building: compiling, 0 s\nbuilding: joining, 0 s\n')
})

t.test('an installation reports the number of packages, on standard error only', async (t) => {
  const folder = t.testdir()
  mkdirSync(join(folder, 'a-1.0.0'))
  const write = (name: string, value: unknown): void =>
    writeFileSync(join(folder, name), JSON.stringify(value))
  write('a-1.0.0/package.json', { name: 'a', version: '1.0.0' })
  write('package.json', { name: 'b', version: '1.0.0', dependencies: { a: 'file:a-1.0.0' } })
  write('package-lock.json', {
    name: 'b',
    version: '1.0.0',
    lockfileVersion: 3,
    requires: true,
    packages: {
      '': { name: 'b', version: '1.0.0', dependencies: { a: 'file:a-1.0.0' } },
      'a-1.0.0': { version: '1.0.0' },
      'node_modules/a': { resolved: 'a-1.0.0', link: true },
    },
  })
  const code = `import { install } from '${TOOLS}install.mjs'; await install(${JSON.stringify(folder)})`
  const command = [process.execPath, '--input-type=module', '-e', code]
  const { code: exit, stdout, stderr } = await runToEnd({ HOME: folder }, command)
  t.equal(exit, 0, stderr)
  t.equal(stdout, '')
  t.match(stderr, /: 1 of 2 packages unpacked, 0 s\n[^]*: 2 of 2 packages unpacked, \d+ s\n$/)
  t.ok(existsSync(join(folder, 'node_modules/a/package.json')))
})

/** Runs `install` with a program in place of npm. */
async function installedBy(folder: string, npm: string) {
  writeFileSync(join(folder, 'npm.cjs'), npm)
  const packages = { '': {}, 'node_modules/a': { version: '1.0.0' }, 'node_modules/b': { version: '1.0.0' } }
  writeFileSync(join(folder, 'package-lock.json'), JSON.stringify({ packages }))
  const code = `import { install } from '${TOOLS}install.mjs'; await install(${JSON.stringify(folder)})`
  const settings = { HOME: folder, npm_execpath: join(folder, 'npm.cjs') }
  return runToEnd(settings, [process.execPath, '--input-type=module', '-e', code])
}

t.test("an installation shows the registry's answers before a package is unpacked", async (t) => {
  const lists = await installedBy(t.testdir(), LISTS)
  t.match(lists.stderr, /\(usually 20 to 90 s\): waiting for the registry, 2 packages to load, 0 s\n/)
  t.match(lists.stderr, /: reading lists of versions, 2 have come, 2 packages to load, \d+ s\n$/)
  const downloads = await installedBy(t.testdir(), `${LISTS}${DOWNLOAD}`)
  t.match(downloads.stderr, /: downloads: 1, 0 of 2 packages unpacked, \d+ s\n$/)
})

t.test('an installation shows the errors of npm, and none of its other lines', async (t) => {
  const { code, stderr } = await installedBy(t.testdir(), `${LISTS}${FAILURE}`)
  t.equal(code, 1)
  t.match(stderr, /^npm error code E404$/m)
  t.notMatch(stderr, /npm http|npm warn/)
})

const LISTS = `for (const name of ['a', 'b']) console.error('npm http fetch GET 200 https://packages.test/' + name + ' 5ms (cache miss)')
`
const DOWNLOAD = `console.error('npm http fetch GET 200 https://packages.test/a/-/a-1.0.0.tgz 5ms (cache miss)')
`
const FAILURE = `console.error('npm warn EBADENGINE'); console.error('npm error code E404'); process.exitCode = 1
`
