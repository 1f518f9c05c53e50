/** An assembled front in a process of its own; the process ends with its parent. */
import { assemble, type FrontSettings } from './assemble.ts'

async function serve(settings: FrontSettings): Promise<void> {
  await assemble(settings)
  process.send?.('ready')
}

process.on('disconnect', () => process.exit(0))
process.once('message', (settings: FrontSettings) => void serve(settings))
