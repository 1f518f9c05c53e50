import { program } from './chat-clients.ts'
import { short } from '../short.ts'

await short('chat-clients', program)
