import type { StartProvider } from '../../../../schemas/operator/start.ts'

export const LANGUAGES = [
  ['curl', 'curl'],
  ['python', 'Python'],
  ['typescript', 'TypeScript'],
] as const
export type Language = (typeof LANGUAGES)[number][0]

/** Characters that are not safe between single quotes of a shell. */
const UNSAFE = /[^\w .-]/g

export interface Trial {
  /** `http://127.0.0.1:8080/api/v1`. */
  readonly apiUrl: string
  /** The key; null when it was not created on this page. */
  readonly key: string | null
  /** Name of the key; null without a key. */
  readonly name: string | null
  readonly model: NonNullable<StartProvider['model']>
}

/** A first call, to be pasted into a terminal. */
export function sampleOf(language: Language, { apiUrl, key, name, model: { id, kind } }: Trial): string {
  const value = key ?? (name === null ? 'your inference key' : `value of the key ${name.replace(UNSAFE, '')}`)
  const [path, input] =
    kind === 'chat'
      ? ['chat/completions', { messages: [{ role: 'user', content: 'Hello there' }] }]
      : ['embeddings', { input: 'Hello there' }]
  const call = { url: `${apiUrl}/${path}`, body: JSON.stringify({ model: id, ...input }) }
  return [`export SLUICE_KEY='${value}'`, ...WRITERS[language](call), ''].join('\n')
}

interface Call {
  readonly url: string
  /** JSON, which is also valid Python and TypeScript here. */
  readonly body: string
}

const WRITERS: Readonly<Record<Language, (call: Call) => readonly string[]>> = {
  curl: ({ url, body }) => [
    `curl '${url}' \\`,
    `  -H "Authorization: Bearer $SLUICE_KEY" \\`,
    `  -H 'Content-Type: application/json' \\`,
    `  -d '${body}'`,
  ],
  python: ({ url, body }) => [
    "python3 - <<'END'",
    'import json, os, urllib.request',
    '',
    'request = urllib.request.Request(',
    `    "${url}",`,
    `    json.dumps(${body}).encode(),`,
    '    {"Authorization": "Bearer " + os.environ["SLUICE_KEY"], "Content-Type": "application/json"},',
    ')',
    'print(urllib.request.urlopen(request).read().decode())',
    'END',
  ],
  typescript: ({ url, body }) => [
    "node --input-type=module - <<'END'",
    `const response = await fetch('${url}', {`,
    "  method: 'POST',",
    "  headers: { authorization: `Bearer ${process.env.SLUICE_KEY}`, 'content-type': 'application/json' },",
    `  body: JSON.stringify(${body}),`,
    '})',
    'console.log(await response.text())',
    'END',
  ],
}
