import { program } from './chat-agents.ts'
import { short } from '../short.ts'

await short('chat-agents', program)
