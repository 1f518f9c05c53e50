// `node tools/wat.mjs` generates src/workers/plain-numbers-code.ts from the WebAssembly text beside it.
// `npm run lint` compares the two.
import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { install } from './install.mjs'

export const WAT = 'src/workers/plain-numbers.wat'
export const CODE_FILE = 'src/workers/plain-numbers-code.ts'
/** Bytes of a line. */
const LINE = 40

/** @returns the text of the generated file */
export async function codeText() {
  const { default: wabt } = await import('wabt')
  const { parseWat } = await wabt()
  const module = parseWat(WAT, readFileSync(WAT, 'utf8'), { simd: true })
  try {
    module.validate()
    return textOf(Buffer.from(module.toBinary({ write_debug_names: false }).buffer))
  } finally {
    module.destroy()
  }
}

function textOf(bytes) {
  const lines = Array.from({ length: Math.ceil(bytes.length / LINE) }, (_, nth) =>
    bytes.subarray(nth * LINE, (nth + 1) * LINE).toString('hex'),
  )
  return `// Generated from plain-numbers.wat by \`node tools/wat.mjs\`: edit the text.

/** A module that exports its \`memory\` of 64 KiB, and \`run\`. */
export const PLAIN_NUMBERS_CODE: Uint8Array = Buffer.from(
  [
${lines.map((line) => `    '${line}',\n`).join('')}  ].join(''),
  'hex',
)
`
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  process.chdir(fileURLToPath(new URL('..', import.meta.url)))
  await install('tools')
  writeFileSync(CODE_FILE, await codeText())
}
