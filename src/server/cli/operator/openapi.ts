import type { Command } from 'commander'
import { openApiOf } from '../../http/reference/openapi.ts'
import { OPERATIONS } from '../../operations/index.ts'
import { addVerb } from '../parts/verb.ts'

/** `openapi`: the document that every front serves at /openapi.json; JSON with and without `--json`. */
export function addTo(program: Command): void {
  addVerb(program, 'openapi', 'print the OpenAPI 3.1 document of this version').action(() => {
    process.stdout.write(`${JSON.stringify(openApiOf(OPERATIONS), null, 2)}\n`)
  })
}
