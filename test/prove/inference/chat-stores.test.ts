import { program } from './chat-stores.ts'
import { short } from '../short.ts'

await short('chat-stores', program)
