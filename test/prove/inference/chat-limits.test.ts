import { program } from './chat-limits.ts'
import { short } from '../short.ts'

await short('chat-limits', program)
