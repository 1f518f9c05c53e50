/** A coding agent that is a program of its own, as a user runs it: by base URL and key alone. */
import { execFileSync } from 'node:child_process'
import type { FakeAnswer, FakeCall } from '../../../support/inference/fake-provider.ts'
import type { StreamPlan } from '../../../support/inference/fake-stream.ts'
import { plainEnvironment } from '../../../support/load/load.ts'
import { spawnServer, type Spawned } from '../../../support/nodes/spawned.ts'

/** What the model gives: a thought that is signed, then one call of a tool. */
export interface ToolPlan {
  readonly thought: string
  readonly signature: string
  /** Of a shell. */
  readonly command: string
}

export interface AgentAnswers {
  /** The agent's call wants work done, and no tool has been called yet. */
  isFirst(call: FakeCall): boolean
  calls(plan: ToolPlan): FakeAnswer
  /** Shows the picture of a file to the model, where the agent reads it by a tool; null: it sends it itself. */
  looks(file: string): FakeAnswer | null
  /** @param plan may end the stream after the words */
  says(words: readonly string[], plan?: StreamPlan): FakeAnswer
  /** Words, and then nothing: the connection stays. */
  stalls(words: readonly string[]): FakeAnswer
  refuses(message: string): FakeAnswer
  /** The answer in the form of a schema, as the agent asks for it. */
  structured(value: object): FakeAnswer
  /** Steps that use each kind of tool which the agent has. @param folder has `picture.png` */
  session(folder: string): readonly FakeAnswer[]
}

export interface AgentTask {
  readonly prompt: string
  /** Path of a picture. */
  readonly image?: string
  /** JSON Schema of the answer. */
  readonly schema?: object
  /** Folder that the agent works in. */
  readonly folder: string
}

export interface Agent {
  /** With its version. */
  readonly name: string
  readonly answers: AgentAnswers
  start(task: AgentTask): Promise<Spawned>
}

export interface AgentInput {
  /** Without a path: `http://127.0.0.1:…`. */
  readonly origin: string
  readonly key: string
  readonly model: string
  /** Home of the agent, empty but for what `start` writes. */
  readonly home: string
}

/** The version that a program prints; null: it is not on the PATH. */
export function versionOf(program: string): string | null {
  try {
    const reported = execFileSync(program, ['--version'], { encoding: 'utf8', env: plainEnvironment() })
    return /\d+\.\d+\.\d+/.exec(reported)?.[0] ?? reported.trim()
  } catch {
    return null
  }
}

/** Starts an agent in a home and a folder of its own. */
export function startAgent(
  program: string,
  args: readonly string[],
  {
    folder,
    home,
    env,
  }: { readonly folder: string; readonly home: string; readonly env: Readonly<Record<string, string>> },
): Spawned {
  return spawnServer(program, args, { cwd: folder, env: { HOME: home, ...env } })
}
