import { UPLOADED, type ExampleRequest, type SampleInput } from './example-request.ts'
import { typescriptLiteral } from './literals.ts'

const ENVIRONMENT = 'process.env'

/** A module for Node with its own `fetch`. */
export function typescriptOf({ request, url, variable }: SampleInput): string {
  const imports = importsOf(request)
  return [
    ...imports,
    ...(imports.length > 0 ? [''] : []),
    ...(request.upload === 'form' ? FORM : []),
    `const response = await fetch(${typescriptLiteral(url)}, {`,
    ...(request.method === 'GET' ? [] : [`  method: '${request.method}',`]),
    `  headers: ${headersOf(request, variable)},`,
    ...bodyOf(request),
    '})',
    'if (!response.ok) throw new Error(`${response.status}: ${await response.text()}`)',
    answerOf(request.answer),
  ].join('\n')
}

function importsOf({ upload, answer }: ExampleRequest): readonly string[] {
  return [
    ...(upload === null ? [] : ["import { openAsBlob } from 'node:fs'"]),
    ...(typeof answer === 'object' ? ["import { writeFile } from 'node:fs/promises'"] : []),
  ]
}

const FORM = [
  'const form = new FormData()',
  `form.append('file', await openAsBlob('${UPLOADED}'), '${UPLOADED}')`,
]

function headersOf({ keyHeader, contentType }: ExampleRequest, variable: string): string {
  const key = `${ENVIRONMENT}['${variable}']`
  const headers = [
    keyHeader === 'Authorization' ? `Authorization: \`Bearer \${${key}}\`` : `'${keyHeader}': ${key} ?? ''`,
    ...(contentType === null ? [] : [`'Content-Type': '${contentType}'`]),
  ]
  return headers.length === 1
    ? `{ ${headers.join('')} }`
    : `{\n${headers.map((header) => `    ${header},\n`).join('')}  }`
}

function bodyOf({ body, upload }: ExampleRequest): readonly string[] {
  if (upload === 'form') return ['  body: form,']
  if (upload === 'raw') return [`  body: await openAsBlob('${UPLOADED}'),`]
  return body === undefined ? [] : [`  body: JSON.stringify(${typescriptLiteral(body, '  ')}),`]
}

function answerOf(answer: ExampleRequest['answer']): string {
  if (typeof answer === 'object')
    return `await writeFile('${answer.file}', new Uint8Array(await response.arrayBuffer()))`
  if (answer === 'json') return 'console.log(JSON.stringify(await response.json(), null, 2))'
  return answer === 'text' ? 'console.log(await response.text())' : 'console.log(response.status)'
}
