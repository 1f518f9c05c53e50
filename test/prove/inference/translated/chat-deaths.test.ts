import { program } from '../chat-deaths.ts'
import { short } from '../../short.ts'

await short('chat-deaths', program, 'translated')
