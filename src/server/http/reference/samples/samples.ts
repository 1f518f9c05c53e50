import type { KeyKind } from '../../../../schemas/keys/api-keys.ts'
import { WRITTEN_ORIGIN } from '../docs-page.ts'
import { UPLOADED, type ExampleRequest, type SampleInput } from './example-request.ts'
import { jsonLiteral } from './literals.ts'
import { pythonOf } from './python.ts'
import { typescriptOf } from './typescript.ts'

export const KEY_VARIABLES: Readonly<Record<KeyKind, string>> = {
  inference: 'SLUICE_KEY',
  management: 'SLUICE_MANAGEMENT_KEY',
  intern: 'SLUICE_INTERN_KEY',
  scim: 'SCIM_TOKEN',
}

/** The languages of samples, in the order in which they are shown. */
export const LANGUAGES = {
  curl: { title: 'curl', highlight: 'sh', write: curlOf },
  python: { title: 'Python', highlight: 'python', write: pythonOf },
  typescript: { title: 'TypeScript', highlight: 'ts', write: typescriptOf },
} as const satisfies Readonly<
  Record<string, { title: string; highlight: string; write(input: SampleInput): string }>
>
export type Language = keyof typeof LANGUAGES

/** A program that sends the request, prints or keeps the answer, and fails where the answer is an error. */
export function sampleOf(language: Language, request: ExampleRequest, origin = WRITTEN_ORIGIN): string {
  return LANGUAGES[language].write({
    request,
    url: `${origin}${request.path}`,
    variable: KEY_VARIABLES[request.keyKind],
  })
}

function curlOf({ request, url, variable }: SampleInput): string {
  const { keyHeader, contentType, answer } = request
  const value = keyHeader === 'Authorization' ? `Bearer $${variable}` : `$${variable}`
  return [
    `curl -sS --fail-with-body${methodOf(request)} ${shellText(url)}`,
    `-H "${keyHeader}: ${value}"`,
    ...(contentType === null ? [] : [`-H 'Content-Type: ${contentType}'`]),
    ...bodyOf(request),
    ...(typeof answer === 'object' ? [`-o ${answer.file}`] : []),
  ].join(' \\\n  ')
}

/** curl takes GET, and POST where it sends a body. */
function methodOf({ method, body, upload }: ExampleRequest): string {
  const isTaken = method === (body === undefined && upload === null ? 'GET' : 'POST')
  return isTaken ? '' : ` -X ${method}`
}

function bodyOf({ body, upload }: ExampleRequest): readonly string[] {
  if (upload === 'form') return [`-F file=@${UPLOADED}`]
  if (upload === 'raw') return [`--data-binary @${UPLOADED}`]
  return body === undefined ? [] : [`-d ${shellText(jsonLiteral(body))}`]
}

function shellText(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`
}
