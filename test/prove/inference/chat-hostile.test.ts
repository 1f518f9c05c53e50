import { program } from './chat-hostile.ts'
import { short } from '../short.ts'

await short('chat-hostile', program)
