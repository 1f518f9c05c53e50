/** Reads many streams of one server at once, in a process of its own. */
import { once } from 'node:events'
import type { LoadRequest } from '../../test/support/load/load-plan.ts'
import { stopServer } from '../../test/support/nodes/spawned.ts'
import { startChild } from './child.ts'
import type { GeneratorSettings, StreamFigures } from './generator.ts'

/** Called in the moment in which counting begins, and in which it ends. */
export interface Around {
  begins(): void
  ends(): void
}

export interface StreamLoad extends Omit<GeneratorSettings, 'request'> {
  readonly request: Pick<LoadRequest, 'path' | 'headers' | 'body'>
}

export async function readStreams(
  { request, ...load }: StreamLoad,
  { begins, ends }: Around,
): Promise<StreamFigures> {
  const asked: GeneratorSettings = { ...load, request: requestText(request) }
  const child = await startChild('generator', asked)
  await once(child, 'message')
  begins()
  const [figures] = (await once(child, 'message')) as [StreamFigures]
  ends()
  await stopServer(child)
  return figures
}

function requestText({ path, headers, body }: StreamLoad['request']): string {
  const lines = Object.entries({ host: '127.0.0.1', ...headers, 'content-length': String(body.length) })
  return `POST ${path} HTTP/1.1\r\n${lines.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n${body}`
}
