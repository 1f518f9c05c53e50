/**
 * The members of requests that clients have in their type definitions, read by the compiler from the
 * definitions themselves.
 */
import { join } from 'node:path'
import { API, type Checker, type Type } from 'typescript/unstable/sync'
import type { Dialect } from '../../../../src/schemas/inference/text-request.ts'
import { ROOT } from '../../source.ts'
import { installClients } from '../../wire/foreign-clients.ts'

/** A message, an item, a part or a tool, by the text of its `type` or `role`; `''`: it has none. */
export interface TypedObject {
  readonly type: string
  /** With those of objects one level further in, with a dot. */
  readonly members: readonly string[]
}

/** What a request of one client may have. */
export interface RequestType {
  readonly client: string
  readonly dialect: Dialect
  /** Top-level members. */
  readonly members: readonly string[]
  readonly turns: readonly TypedObject[]
  readonly parts: readonly TypedObject[]
  readonly tools: readonly TypedObject[]
}

interface Source {
  /** The client writes names of members in camel case, and sends them with underscores. */
  readonly isCamel?: true
  readonly client: string
  readonly dialect: Dialect
  /** As TypeScript has it. */
  readonly type: string
}

const SOURCES: readonly Source[] = [
  {
    client: 'openai',
    dialect: 'chat',
    type: "import('openai/resources/chat/completions').ChatCompletionCreateParams",
  },
  {
    client: 'openai',
    dialect: 'responses',
    type: "import('openai/resources/responses/responses').ResponseCreateParams",
  },
  {
    client: '@anthropic-ai/sdk',
    dialect: 'messages',
    type: "import('@anthropic-ai/sdk/resources/messages').MessageCreateParams",
  },
  {
    client: '@anthropic-ai/sdk, beta',
    dialect: 'messages',
    type: "import('@anthropic-ai/sdk/resources/beta/messages').MessageCreateParams",
  },
  {
    client: '@openrouter/sdk',
    dialect: 'chat',
    isCamel: true,
    type: "import('@openrouter/sdk/models/chatrequest.js').ChatRequest",
  },
  {
    client: '@openrouter/sdk',
    dialect: 'responses',
    isCamel: true,
    type: "import('@openrouter/sdk/models/responsesrequest.js').ResponsesRequest",
  },
]

const FOLDER = join(ROOT, 'tools/clients')
const CONFIG = join(FOLDER, 'read-types.json')
const FILE = join(FOLDER, 'read-types.ts')
const TEXTS: Readonly<Record<string, string>> = {
  [CONFIG]: JSON.stringify({
    compilerOptions: {
      module: 'nodenext',
      target: 'es2023',
      strict: true,
      skipLibCheck: true,
      types: [],
      noEmit: true,
    },
    files: [FILE],
  }),
  [FILE]: SOURCES.map(({ type }, nth) => `export declare const asked${nth}: ${type}`).join('\n'),
}

/** Installs the clients first where they are not there. */
export async function clientTypes(): Promise<readonly RequestType[]> {
  await installClients()
  const api = new API({
    cwd: ROOT,
    fs: {
      readFile: (path) => TEXTS[path],
      fileExists: (path) => (path in TEXTS ? true : undefined),
    },
  })
  try {
    const snapshot = api.updateSnapshot({ openProjects: [CONFIG] })
    const project = snapshot.getProject(CONFIG)
    const file = project?.program.getSourceFile(FILE)
    if (project === undefined || file === undefined)
      throw new Error('the types of the clients cannot be read')
    const module = project.checker.getSymbolAtLocation(file)
    const exports = module === undefined ? [] : project.checker.getExportsOfModule(module)
    return SOURCES.map((source, nth) => {
      const symbol = exports.find(({ name }) => name === `asked${nth}`)
      const type = symbol === undefined ? undefined : project.checker.getTypeOfSymbol(symbol)
      if (type === undefined || type.isErrorType()) throw new Error(`there is no ${source.type}`)
      return new RequestReader(project.checker, source).read(type)
    })
  } finally {
    api.close()
  }
}

/** Where a request of each dialect has its turns. */
const TURNS: Readonly<Record<Dialect, string>> = {
  chat: 'messages',
  responses: 'input',
  messages: 'messages',
}
/** Where turns have their parts: results of tools have them in `output`. */
const CONTENTS: readonly string[] = ['content', 'output']
/** Turns whose parts callers write: those of others are their provider's. */
const SAYING: ReadonlySet<string> = new Set([
  ...['system', 'developer', 'user', 'assistant', 'tool'],
  ...['message', 'function_call_output', 'custom_tool_call_output'],
])

/** What `@openrouter/sdk` calls an object of a type that it does not know. */
const UNREAD = 'UNKNOWN'

class RequestReader {
  readonly #checker: Checker
  readonly #source: Source

  constructor(checker: Checker, source: Source) {
    this.#checker = checker
    this.#source = source
  }

  read(request: Type): RequestType {
    const { client, dialect } = this.#source
    const turns = this.#elements(this.#members(request, TURNS[dialect]))
    const text = turns.filter((turn) => this.#tags(turn).some((tag) => SAYING.has(tag)))
    const contents = CONTENTS.flatMap((name) =>
      text.flatMap((turn) => this.#elements(this.#members(turn, name))),
    )
    const system = this.#elements(this.#members(request, 'system'))
    return {
      client,
      dialect,
      members: [
        ...new Set(
          this.#alternatives(request).flatMap((one) => this.#names(one).map((name) => this.#sent(name))),
        ),
      ],
      turns: this.#typed(turns),
      parts: this.#typed([...contents, ...system]),
      tools: this.#typed(this.#elements(this.#members(request, 'tools'))),
    }
  }

  /** Objects of one type are one, with the members of all. */
  #typed(objects: readonly Type[]): readonly TypedObject[] {
    const found = new Map<string, Set<string>>()
    for (const object of objects)
      for (const type of this.#tags(object)) {
        const members = found.get(type) ?? new Set()
        for (const name of this.#nested(object)) members.add(name)
        found.set(type, members)
      }
    return Array.from(found, ([type, members]) => ({ type, members: [...members] }))
  }

  #nested(object: Type): readonly string[] {
    return this.#names(object).flatMap((name) => {
      const inner = this.#members(object, name).flatMap((one) => this.#alternatives(one))
      const names = inner.filter((one) => this.#isPlain(one)).flatMap((one) => this.#names(one))
      const sent = this.#sent(name)
      return [sent, ...names.map((one) => `${sent}.${this.#sent(one)}`)]
    })
  }

  /** The texts that `type` or `role` of an object may have. */
  #tags(object: Type): readonly string[] {
    for (const name of ['type', 'role']) {
      const tags = this.#members(object, name)
        .flatMap((one) => this.#alternatives(one))
        .flatMap((one) => (one.isStringLiteralType() ? one.value : []))
      if (tags.length > 0) return [...new Set(tags)].filter((tag) => tag !== UNREAD)
    }
    return ['']
  }

  /** Types of the elements of lists among these types. */
  #elements(types: readonly Type[]): readonly Type[] {
    return types
      .flatMap((one) => this.#alternatives(one))
      .filter((one) => this.#checker.isArrayType(one) && one.isTypeReference())
      .flatMap((one) => (one.isTypeReference() ? this.#checker.getTypeArguments(one) : []))
      .flatMap((one) => this.#alternatives(one))
      .filter((one) => one.isObjectType() || one.isIntersectionType())
  }

  #members(type: Type, name: string): readonly Type[] {
    return this.#alternatives(type).flatMap((one) => {
      const symbol = this.#checker.getPropertyOfType(one, name)
      return (symbol === undefined ? undefined : this.#checker.getTypeOfSymbol(symbol)) ?? []
    })
  }

  /** The name of a member as the client sends it. */
  #sent(name: string): string {
    return this.#source.isCamel === true
      ? name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
      : name
  }

  #names(object: Type): readonly string[] {
    return this.#checker.getPropertiesOfType(object).map(({ name }) => name)
  }

  #alternatives(type: Type): readonly Type[] {
    return type.isUnionType() ? type.getTypes().flatMap((one) => this.#alternatives(one)) : [type]
  }

  /** True for an object that is neither a list nor a map. */
  #isPlain(type: Type): boolean {
    return (
      type.isObjectType() &&
      !this.#checker.isArrayLikeType(type) &&
      this.#checker.getIndexInfosOfType(type).length === 0
    )
  }
}
