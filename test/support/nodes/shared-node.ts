import t from 'tap'
import { nodeSettings, startNode, type TestNode } from './node.ts'

let shared: Promise<TestNode> | null = null

/**
 * One node for all files of a process, which tests look at and none takes down: a start takes more CPU than what
 * they do. tools/test-groups.mjs runs these files in one process.
 */
export function sharedNode(): Promise<TestNode> {
  shared ??= nodeSettings(t).then((settings) => startNode(t, settings))
  return shared
}
