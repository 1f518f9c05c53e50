// `npm run format`: lays out the code by the rules of .prettierrc.json.
import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { CODE } from './code.mjs'
import { install } from './install.mjs'

process.chdir(fileURLToPath(new URL('..', import.meta.url)))
await install('tools')
const args = ['tools/node_modules/prettier/bin/prettier.cjs', '--write', '--log-level', 'warn', ...CODE]
process.exit(spawnSync(process.execPath, args, { stdio: 'inherit' }).status ?? 1)
