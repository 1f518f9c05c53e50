// `node tools/wat.mjs` generates the code of each module of MODULES from the WebAssembly text beside it.
// `npm run lint` compares the two.
import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { install } from './install.mjs'

/** Modules: their text, the generated file, and the name and the note of its constant. */
export const MODULES = [
  {
    wat: 'src/workers/scan-code.wat',
    codeFile: 'src/workers/scan-code.ts',
    name: 'SCAN_CODE',
    note: 'A module that exports its `memory` of 192 KiB, `numbers` and `base64`.',
  },
  {
    wat: 'src/workers/content/automaton.wat',
    codeFile: 'src/workers/content/automaton-code.ts',
    name: 'AUTOMATON_CODE',
    note: 'A module that exports its `memory` of 320 KiB, `run`, `pair` and `twin`.',
  },
]
/** Bytes of a line. */
const LINE = 40

/** @returns the text of the generated file */
export async function codeText({ wat, name, note }) {
  const { default: wabt } = await import('wabt')
  const { parseWat } = await wabt()
  const module = parseWat(wat, unrolled(readFileSync(wat, 'utf8')), { simd: true })
  try {
    module.validate()
    const bytes = Buffer.from(module.toBinary({ write_debug_names: false }).buffer)
    return textOf(bytes, { from: wat.slice(wat.lastIndexOf('/') + 1), name, note })
  } finally {
    module.destroy()
  }
}

/** Writes the lines from `;; for {n} in 0 16` to `;; end` once for each value, in place of `{n}`. */
function unrolled(text) {
  return text.replace(/^ *;; for \{n\} in ([\d ]+)\n([^]*?)^ *;; end\n/gm, (_, values, lines) =>
    values
      .split(' ')
      .map((value) => lines.replaceAll('{n}', value))
      .join(''),
  )
}

function textOf(bytes, { from, name, note }) {
  const lines = Array.from({ length: Math.ceil(bytes.length / LINE) }, (_, nth) =>
    bytes.subarray(nth * LINE, (nth + 1) * LINE).toString('hex'),
  )
  return `// Generated from ${from} by \`node tools/wat.mjs\`: edit the text.

/** ${note} */
export const ${name}: Uint8Array = Buffer.from(
  [
${lines.map((line) => `    '${line}',\n`).join('')}  ].join(''),
  'hex',
)
`
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  process.chdir(fileURLToPath(new URL('..', import.meta.url)))
  await install('tools')
  for (const module of MODULES) writeFileSync(module.codeFile, await codeText(module))
}
