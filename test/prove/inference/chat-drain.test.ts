import { program } from './chat-drain.ts'
import { short } from '../short.ts'

await short('chat-drain', program)
