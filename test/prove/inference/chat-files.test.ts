import { program } from './chat-files.ts'
import { short } from '../short.ts'

await short('chat-files', program)
