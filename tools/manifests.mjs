// Checks manifests against the types of the Kubernetes API, for `npm run lint` and the test of
// deploy/kubernetes. The schemas of the API allow unknown members; its types, as literals, do not, so that a
// misspelled name is a fault.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const TOOLS = fileURLToPath(new URL('.', import.meta.url))

/**
 * @param manifests parsed documents
 * @returns one line for each fault
 */
export async function faultsOf(manifests) {
  const { default: ts } = await import('typescript')
  // The folder lies beside the types, so that the compiler finds them.
  const folder = mkdtempSync(join(TOOLS, 'node_modules/.manifests-'))
  try {
    const files = manifests.map((manifest, index) => {
      const file = join(folder, `${index}.ts`)
      const type = `I${manifest.kind}`
      writeFileSync(
        file,
        `import type { ${type} } from '${moduleOf(manifest)}'\nexport const manifest: ${type} = ${JSON.stringify(manifest, null, 2)}\n`,
      )
      return file
    })
    const options = {
      strict: true,
      noEmit: true,
      skipLibCheck: true,
      types: [],
      module: ts.ModuleKind.NodeNext,
      target: ts.ScriptTarget.ES2022,
    }
    const program = ts.createProgram(files, options)
    const typed = ts.getPreEmitDiagnostics(program).map(({ file, messageText }) => {
      const { kind, metadata } = manifests[files.indexOf(file?.fileName)] ?? {}
      return `${kind} ${metadata?.name}: ${ts.flattenDiagnosticMessageText(messageText, ' ')}`
    })
    const judged = await Promise.all(manifests.map(checked))
    return [...typed, ...judged.flat()]
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/** Checks by the JSON schema: forms and bounds that a type cannot express. */
async function checked(manifest) {
  try {
    const models = await import(moduleOf(manifest))
    new models[manifest.kind](manifest).validate()
    return []
  } catch (problem) {
    return [`${manifest.kind} ${manifest.metadata?.name}: ${problem.message}`]
  }
}

function moduleOf({ apiVersion, kind }) {
  return `kubernetes-models/${apiVersion}/${kind}`
}

/** The manifests of deploy/, read by a parser that is installed with the other tools. */
export async function deployedManifests() {
  const { parseAllDocuments } = await import('yaml')
  const texts = ['sluice.yaml', 'migrate.yaml'].map((name) =>
    readFileSync(join(TOOLS, '../deploy/kubernetes', name), 'utf8'),
  )
  return texts.flatMap((text) => parseAllDocuments(text).map((document) => document.toJS()))
}
