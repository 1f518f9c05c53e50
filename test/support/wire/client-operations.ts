/** The operations of `@openrouter/sdk`, read from its own code: names of calls, methods and paths. */
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { locate } from './foreign-clients.ts'

export interface ClientOperation {
  /** As its user writes it: `workspaces.listMembers`. */
  readonly call: string
  readonly method: string
  /** With `{name}` segments; below the base URL. */
  readonly path: string
  /** The call has an address of its own: it goes to that of the client only where the call names it. */
  readonly isElsewhere: boolean
}

/** Every operation that sends a request, by path and method. */
export async function clientOperations(): Promise<readonly ClientOperation[]> {
  const folder = dirname(await locate('@openrouter/sdk'))
  const calls = callsOf(readAll(join(folder, 'sdk')))
  const found = [...readAll(join(folder, 'funcs'))].flatMap(([name, text]) => {
    const path = /pathToFunc\("([^"]+)"\)/.exec(text)?.[1]
    const method = /\bmethod: "([A-Z]+)"/.exec(text)?.[1]
    const call = calls.get(name)
    return path === undefined || method === undefined || call === undefined
      ? []
      : [{ call, method, path, isElsewhere: /ServerList\b/.test(text) }]
  })
  return found.sort((one, other) => order(one).localeCompare(order(other), 'en'))
}

/** Version of the client that the tests have. */
export async function clientVersion(): Promise<string> {
  const text = readFileSync(join(dirname(await locate('@openrouter/sdk')), '..', 'package.json'), 'utf8')
  return (JSON.parse(text) as { readonly version: string }).version
}

function order({ method, path }: ClientOperation): string {
  return `${path} ${method}`
}

/** Texts of the modules of a folder by their names. */
function readAll(folder: string): ReadonlyMap<string, string> {
  const names = readdirSync(folder).filter((name) => name.endsWith('.js'))
  return new Map(
    names.map((name) => [name.slice(0, -'.js'.length), readFileSync(join(folder, name), 'utf8')]),
  )
}

/** The name of a call by the function that sends it. A function of two names has the shorter one. */
function callsOf(modules: ReadonlyMap<string, string>): ReadonlyMap<string, string> {
  const texts = [...modules.values()]
  const parentOf = new Map<string, { readonly parent: string; readonly name: string }>()
  for (const text of texts)
    for (const [, name = '', child = ''] of text.matchAll(
      /get (\w+)\(\) \{\s*return \(this\._\w+ \?\? \(this\._\w+ = new (\w+)\(/g,
    ))
      parentOf.set(child, { parent: classOf(text), name })
  const groupOf = (name: string): string => {
    const up = parentOf.get(name)
    return up === undefined ? '' : `${groupOf(up.parent)}${up.name}.`
  }
  const calls = new Map<string, string>()
  for (const text of texts)
    for (const [, method = '', sender = ''] of text.matchAll(
      /async (\w+)\([^)]*\) \{\s*return unwrap\w+\((\w+)\(/g,
    )) {
      const call = groupOf(classOf(text)) + method
      if ((calls.get(sender)?.length ?? Infinity) > call.length) calls.set(sender, call)
    }
  return calls
}

function classOf(text: string): string {
  return /export class (\w+) extends/.exec(text)?.[1] ?? ''
}
