import { program } from '../chat-leaving.ts'
import { short } from '../../short.ts'

await short('chat-leaving', program, 'translated')
