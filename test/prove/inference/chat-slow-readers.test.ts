import { program } from './chat-slow-readers.ts'
import { short } from '../short.ts'

await short('chat-slow-readers', program)
