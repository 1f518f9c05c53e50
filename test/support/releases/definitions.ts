/** The promises of a version, from its own definitions: API, settings, error types and schema steps. */
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { apiShapeOf, type ApiDocument, type ApiShape } from './api-shape.ts'

export interface SettingText {
  /** The form of its values, in words. */
  readonly expected: string
  /** As JSON; absent: none. */
  readonly usual?: string
}

export interface FailureText {
  readonly statuses: readonly number[]
  readonly text: string
}

export interface SchemaStep {
  readonly name: string
  /** Tables that it makes. */
  readonly tables: readonly string[]
}

export interface Definitions {
  readonly api: ApiShape
  readonly settings: Readonly<Record<string, SettingText>>
  readonly failures: Readonly<Record<string, FailureText>>
  /** In their order, from the first. */
  readonly steps: readonly SchemaStep[]
}

/** Of the modules of a tree, what is read here. */
interface Modules {
  readonly openApiOf: (operations: unknown) => ApiDocument
  readonly OPERATIONS: unknown
  readonly Settings: {
    readonly properties: Readonly<Record<string, { readonly expected?: string; readonly default?: unknown }>>
  }
  readonly FAILURES: Readonly<Record<string, { readonly status: readonly number[]; readonly text: string }>>
  readonly MIGRATIONS: readonly SchemaStep[]
}

const MODULES: Readonly<Record<keyof Modules, string>> = {
  openApiOf: 'server/http/reference/openapi.js',
  OPERATIONS: 'server/operations/index.js',
  Settings: 'schemas/operator/settings.js',
  FAILURES: 'schemas/failures.js',
  MIGRATIONS: 'server/store/migrations/migrate.js',
}

/** @param tree a folder with a built tree */
export async function definitionsOf(tree: string): Promise<Definitions> {
  const [openApiOf, OPERATIONS, Settings, FAILURES, MIGRATIONS] = await Promise.all([
    exported(tree, 'openApiOf'),
    exported(tree, 'OPERATIONS'),
    exported(tree, 'Settings'),
    exported(tree, 'FAILURES'),
    exported(tree, 'MIGRATIONS'),
  ])
  return {
    // What goes over the wire: shapes lose in it what JSON cannot say.
    api: apiShapeOf(JSON.parse(JSON.stringify(openApiOf(OPERATIONS))) as ApiDocument),
    settings: Object.fromEntries(
      Object.entries(Settings.properties).map(([name, { expected = '', default: usual }]) => [
        name,
        { expected, ...(usual !== undefined && { usual: JSON.stringify(usual) }) },
      ]),
    ),
    failures: Object.fromEntries(
      Object.entries(FAILURES).map(([name, { status, text }]) => [name, { statuses: status, text }]),
    ),
    steps: MIGRATIONS.map(({ name, tables }) => ({ name, tables })),
  }
}

async function exported<K extends keyof Modules>(tree: string, name: K): Promise<Modules[K]> {
  const module = (await import(pathToFileURL(join(tree, 'dist/src', MODULES[name])).href)) as Modules
  return module[name]
}

/** A line for each entry, so that a change of the file is read entry by entry. */
export function textOfDefinitions({ api, settings, failures, steps }: Definitions): string {
  const record = (entries: object): string =>
    `{\n${Object.entries(entries)
      .map(([name, entry]) => `${JSON.stringify(name)}: ${JSON.stringify(entry)}`)
      .join(',\n')}\n}`
  const list = (entries: readonly object[]): string =>
    `[\n${entries.map((entry) => JSON.stringify(entry)).join(',\n')}\n]`
  return (
    `{"api": {"operations": ${record(api.operations)},\n"shapes": ${list(api.shapes)}},\n` +
    `"settings": ${record(settings)},\n"failures": ${record(failures)},\n"steps": ${list(steps)}}\n`
  )
}
