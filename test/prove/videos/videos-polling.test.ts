import { program } from './videos-polling.ts'
import { short } from '../short.ts'

await short('videos-polling', program)
