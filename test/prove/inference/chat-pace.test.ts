import { program } from './chat-pace.ts'
import { short } from '../short.ts'

await short('chat-pace', program)
